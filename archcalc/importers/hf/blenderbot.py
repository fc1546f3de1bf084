"""Blenderbot: pre-norm BART without a norm after the embedding."""

from archcalc.importers.hf._helpers import Config, Fields, bart_like

USUAL = "seq2seq"
INERT = {**bart_like.INERT}


def translate(c: Config) -> Fields:
    return bart_like.bart(c, position=bart_like.learned(c))
