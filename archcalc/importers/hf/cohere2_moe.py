"""Command A MoE: attention and FFN in parallel after one norm, dense blocks first, sliding windows in most blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn, head_dim, inert, rope, when
from archcalc.importers.hf._helpers.layer_types import SLIDING, attentions, full_where, layer_types
from archcalc.importers.hf._helpers.moe import experts, listed, used

INERT = {
    inert.USUAL_LAYERS: "first_k_dense_replace prefix_dense_sliding_window_pattern sliding_window_pattern",
    inert.NOT_HERE: "sliding_window prefix_dense_intermediate_size",
}


def translate(c: Config) -> Fields:
    blocks, first = c.size("num_hidden_layers"), c.given("first_k_dense_replace") or 0
    parts = listed(c, ["ffn"] * min(first, blocks) + ["moe"] * (blocks - first))
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        **used(
            c,
            parts,
            lambda: experts(c, "num_experts", "intermediate_size", shared="num_shared_experts"),
            lambda: _dense(c),
        ),
        norm={"kind": "layer", "bias": False},
        parallel="shared",
        position=rope(c, head_dim(c)),
        **attentions(_kinds(c, parts, first), parts),
    )


def _dense(c: Config) -> Fields:
    width = c.size_or("prefix_dense_intermediate_size", c.size("intermediate_size"))
    return {**ffn(c), "width": width}


def _kinds(c: Config, parts: list[str], first: int) -> list[Fields]:
    """Full-attention blocks have no RoPE, unless they are dense and all dense blocks use full attention."""
    early, later = c.size("prefix_dense_sliding_window_pattern"), c.size("sliding_window_pattern")
    blocks = len(parts)
    numbers = [(block, early) for block in range(first)] + [(block, later) for block in range(blocks)]
    numbered = [(number + 1) % period == 0 for number, period in numbers[:blocks]]
    layers = layer_types(c, full_where(c, lambda block: numbered[block]))
    window = c.given("sliding_window")
    local, free = when(window, window=window), {"position": "none"}
    forced = [part == "ffn" and early == 1 for part in parts]
    return [local if layer == SLIDING else when(not keeps, **free) for layer, keeps in zip(layers, forced, strict=True)]
