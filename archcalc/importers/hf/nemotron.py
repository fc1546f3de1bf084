"""Nemotron: a non-gated FFN with squared ReLU, LayerNorm, RoPE on half of each head."""

from archcalc.importers.hf._helpers.blocks import decoder, ffn
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return decoder(
        c,
        task,
        attention={"bias": c.flag("attention_bias")},
        ffn=ffn(c, gated=False, bias=c.flag("mlp_bias")),
        norm="layer",
    )
