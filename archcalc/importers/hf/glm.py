"""GLM: biases on q, k and v only, RoPE on half of each head."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, biased, decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("glm",)
USUAL = "causal"
INERT: dict[str, str] = {}


def translate(c: Config, task: str) -> Fields:
    return decoder(c, task, attention={"bias": biased(qkv=c.flag("attention_bias"))})
