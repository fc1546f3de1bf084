"""StarCoder 2: a non-gated FFN, LayerNorm, biases everywhere or nowhere."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder, ffn, window
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("starcoder2",)
USUAL = "causal"
INERT: dict[str, str] = {}


def translate(c: Config, task: str) -> Fields:
    plain = ffn(c, gated=False)
    return decoder(c, task, ffn=plain, norm="layer", bias=c.flag("use_bias"), attention=window(c))
