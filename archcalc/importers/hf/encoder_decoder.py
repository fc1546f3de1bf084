"""EncoderDecoder: any text encoder with any decoder; each half's config is read by its own translator."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf._helpers.two_models import two_models

TYPES = ("encoder-decoder",)
USUAL = "seq2seq"
INERT = {
    inert.TOKENS: "decoder_start_token_id",
}


def translate(c: Config, task: str) -> Fields:
    return two_models(c, task, usual_encoder="bert")
