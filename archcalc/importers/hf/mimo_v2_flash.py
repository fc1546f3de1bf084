"""MiMo-V2-Flash: MoE; sliding-window blocks have attention sinks and twice the KV heads; v_head_dim is separate."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import biased, decoder, head_dim, kv_heads, window
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, every, layer_types
from archcalc.importers.hf._helpers.moe import experts, listed, one_dense_first, used
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.words import rope

INERT = {inert.NOT_HERE: "sliding_window sliding_window_size"}


def translate(c: Config, task: str) -> Fields:
    parts = listed(c, one_dense_first(c))
    return decoder(
        c,
        task,
        attention={"bias": biased(qkv=c.flag("attention_bias")), "v_dim": c.size("v_head_dim")},
        **used(c, parts, lambda: experts(c, "n_routed_experts", correction=True)),
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(_kinds(c), parts),
    )


def _kinds(c: Config) -> list[Fields]:
    """Full attention in the first block and every sixth."""
    usual = [FULL, *every(c, 6)[1:]]
    wide, narrow = c.given("sliding_window_size"), window(c)
    if wide is not None:
        narrow = {"window": wide + 1}
    local = {
        "kv_heads": 2 * kv_heads(c),
        **narrow,
        "sinks": True,
        "position": rope(c, head_dim(c), layer=SLIDING),
    }
    return [when(layer == SLIDING, **local) for layer in layer_types(c, usual)]
