"""Nemotron: a non-gated FFN with squared ReLU, LayerNorm, RoPE on half of each head."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, ffn


def translate(c: Config) -> Fields:
    return decoder(
        c,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, gated=False, bias=c.flag("mlp_bias")),
        norm="layer",
    )
