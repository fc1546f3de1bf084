"""Jais 2: Llama with a non-gated FFN and LayerNorm."""

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task, gated=False, norm="layer")
