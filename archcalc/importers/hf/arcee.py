"""Arcee, and the text model of Cosmos 3 Edge: Llama with a non-gated FFN."""

from archcalc.importers.hf._helpers import Config, Fields, llama_like

TYPES = ("arcee", "cosmos3_edge_text")


def translate(c: Config) -> Fields:
    return llama_like.llama(c, gated=False)
