"""MiMo-V2-Flash: MoE; sliding-window blocks have attention sinks and twice the KV heads; v_head_dim is separate."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.attention_kinds import attentions
from archcalc.importers.hf._helpers.blocks import biased, decoder, head_dim, kv_heads, window
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, every, layer_types
from archcalc.importers.hf._helpers.moe import listed, mixture, one_dense_first, used
from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.words import rope

INERT = {inert.NOT_HERE: "sliding_window sliding_window_size"}


def translate(c: Config, task: str) -> Fields:
    parts = listed(c, one_dense_first(c))
    return decoder(
        c,
        task,
        attention={"bias": biased(qkv=c.flag("attention_bias")), "v_dim": c.size("v_head_dim")},
        **used(c, parts, lambda: _experts(c)),
        position=rope(c, head_dim(c), layer=FULL),
        **attentions(_kinds(c), parts),
    )


def _experts(c: Config) -> Fields:
    return mixture(c, c.size("n_routed_experts"), c.size("moe_intermediate_size"), correction=True)


def _kinds(c: Config) -> list[Fields]:
    """Full attention in the first block and every sixth."""
    usual = [FULL, *every(c, 6)[1:]]
    wide = c.given("sliding_window_size")
    local = {
        "kv_heads": 2 * kv_heads(c),
        **({"window": wide + 1} if wide is not None else window(c)),
        "sinks": True,
        "position": rope(c, head_dim(c), layer=SLIDING),
    }
    return [local if layer == SLIDING else {} for layer in layer_types(c, usual)]
