"""MiMo-V2-Flash: MoE; sliding-window blocks have attention sinks and twice the KV heads; v_head_dim is separate."""

from archcalc.importers.hf._helpers import (
    Config,
    Fields,
    biased,
    decoder,
    head_dim,
    inert,
    kv_heads,
    rope,
    when,
    window,
)
from archcalc.importers.hf._helpers.layer_types import FULL, SLIDING, attentions, every, layer_types
from archcalc.importers.hf._helpers.moe import experts, listed, one_dense_first, used

INERT = {inert.NOT_HERE: "sliding_window sliding_window_size"}


def translate(c: Config) -> Fields:
    parts = listed(c, one_dense_first(c))
    return decoder(
        c,
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
