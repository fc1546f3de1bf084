"""Blenderbot: pre-norm BART without a norm after the embedding."""

from archcalc.importers.hf._helpers import bart_like
from archcalc.importers.hf._helpers.reading import Config, Fields

USUAL = "seq2seq"
INERT = {**bart_like.INERT}


def translate(c: Config, task: str) -> Fields:
    return bart_like.bart_like(c, task, position=bart_like.learned(c))
