"""Arcee, and the text model of Cosmos 3 Edge: Llama with a non-gated FFN."""

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("arcee", "cosmos3_edge_text")


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task, gated=False)
