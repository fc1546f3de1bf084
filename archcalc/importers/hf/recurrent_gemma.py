"""RecurrentGemma (Griffin): RG-LRU recurrent blocks, with local attention in every third block."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder, ffn, head_dim, inert, rope, where_used
from archcalc.importers.hf._helpers.layer_types import stack

INERT = {inert.USUAL_LAYERS: "layers_block_type"}


def translate(c: Config) -> Fields:
    said = c.words("block_types") or []
    if not said or not set(said) <= {"recurrent", "attention"}:
        raise c.refused("block_types")
    words = {"recurrent": "rglru", "attention": "attention"}
    mixers = [words[said[block % len(said)]] for block in range(c.size("num_hidden_layers"))]
    bias = biased(qkv=c.flag("attention_bias"), o=True)
    window = {"window": c.size("attention_window_size")}
    inner = ffn(c, act="hidden_activation", bias=True)
    recurrent = {
        "width": c.size_or("lru_width", c.size("hidden_size")),
        "heads": c.size("num_attention_heads"),
        "conv": c.size("conv1d_width"),
        "act": inner["act"],
    }
    return decoder(
        c,
        **where_used(mixers, attention=lambda: {"bias": bias, **window}, rglru=lambda: recurrent),
        ffn={**inner, "width": inner["width"] // 2},
        position=rope(c, head_dim(c)),
        decoder=stack([f"{mixer} ffn" for mixer in mixers]),
    )
