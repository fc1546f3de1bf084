"""Persimmon: a non-gated FFN, LayerNorm also on queries and keys, biases everywhere except on the LM head."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, even_heads, ffn, rope, when


def translate(c: Config) -> Fields:
    return decoder(
        c,
        kv_heads=c.size("num_attention_heads"),
        head_dim=even_heads(c),
        attention=when(c.flag("qk_layernorm"), qk_norm="head"),
        ffn=ffn(c, gated=False),
        norm="layer",
        bias=True,
        position=rope(c, even_heads(c)),
    )
