"""Kolibri 1: MoE with norms before and after each sublayer; most blocks have a sliding window, and only those RoPE."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, when
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding
from archcalc.importers.hf._helpers.moe import all_sparse, experts, listed, used

INERT = {inert.NOT_HERE: "sliding_window"}
_SHARED = "shared_expert_intermediate_size"


def translate(c: Config) -> Fields:
    parts, window = listed(c, all_sparse(c)), c.given("sliding_window")
    free = when(window is not None, position="none")
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: experts(c, "num_experts", shared_width=_SHARED, correction=True)),
        norm={"kind": "rms", "place": "sandwich"},
        **sliding(c, layer_types(c, every(c, 5)), window, full=free, part=parts),
    )
