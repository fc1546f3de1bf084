"""Blenderbot Small: BART whose learned positions have no offset."""

from archcalc.importers.hf._helpers import Config, Fields, bart_like

TYPES = ("blenderbot-small",)
USUAL = "seq2seq"
INERT = bart_like.INERT


def translate(c: Config) -> Fields:
    position = bart_like.learned(c)
    return bart_like.bart(c, norm=bart_like.POST_NORM, position=position, embedding_norm=True)
