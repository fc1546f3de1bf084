"""Blenderbot Small: BART whose learned positions have no offset."""

from archcalc.importers.hf._helpers import bart_like
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("blenderbot-small",)
USUAL = "seq2seq"
INERT = bart_like.INERT


def translate(c: Config, task: str) -> Fields:
    position = bart_like.learned(c)
    return bart_like.bart_like(c, task, norm=bart_like.POST_NORM, position=position, embedding_norm=True)
