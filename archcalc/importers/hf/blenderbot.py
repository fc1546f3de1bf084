"""Blenderbot: pre-norm BART without a norm after the embedding."""

from __future__ import annotations

from archcalc.importers.hf._helpers import bart_like, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("blenderbot",)
USUAL = "seq2seq"
INERT = {
    **bart_like.INERT,
    inert.TOKENS: "encoder_no_repeat_ngram_size force_bos_token_to_be_generated",
}


def translate(c: Config, task: str) -> Fields:
    return bart_like.bart_like(c, task, position=bart_like.learned(c))
