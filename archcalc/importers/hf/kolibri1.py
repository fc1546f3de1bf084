"""Kolibri 1: MoE with norms before and after each sublayer; most blocks have a sliding window, and only those RoPE."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.layer_types import every, layer_types, sliding
from archcalc.importers.hf._helpers.moe import all_sparse, listed, mixture, used
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NOT_HERE: "sliding_window"}


def translate(c: Config, task: str) -> Fields:
    parts, window = listed(c, all_sparse(c)), c.given("sliding_window")
    free = {"position": "none"} if window is not None else None
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias"), "qk_norm": "head"},
        **used(c, parts, lambda: _experts(c)),
        norm={"kind": "rms", "place": "sandwich"},
        **sliding(c, layer_types(c, every(c, 5)), window, full=free, part=parts),
    )


def _experts(c: Config) -> Fields:
    width, shared = c.size("moe_intermediate_size"), c.count("shared_expert_intermediate_size")
    return mixture(c, c.size("num_experts"), width, shared=shared, correction=True)
