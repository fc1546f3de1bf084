"""Persimmon: a non-gated FFN, LayerNorm also on queries and keys, biases everywhere except on the LM head."""

from archcalc.importers.hf._helpers.blocks import decoder, even_heads, ffn
from archcalc.importers.hf._helpers.reading import Config, Fields, when
from archcalc.importers.hf._helpers.words import rope


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        kv_heads=c.size("num_attention_heads"),
        head_dim=even_heads(c),
        attention=when(c.flag("qk_layernorm"), qk_norm="head"),
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        position=rope(c, even_heads(c)),
    )
