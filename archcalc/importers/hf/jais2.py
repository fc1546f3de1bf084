"""Jais 2: Llama with a non-gated FFN and LayerNorm."""

from archcalc.importers.hf._helpers import Config, Fields, llama_like


def translate(c: Config) -> Fields:
    return llama_like.llama(c, gated=False, norm="layer")
