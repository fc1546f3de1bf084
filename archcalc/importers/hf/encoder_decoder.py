"""Any text or vision encoder with any decoder; each half's config is read by its own translator."""

from functools import partial

from archcalc.importers.hf._helpers import Config, Fields, two_models

USUAL = "seq2seq"


def translate(c: Config, *, usual_encoder: str) -> Fields:
    return two_models.joined(c, usual_encoder)


TYPES = {
    "encoder-decoder": partial(translate, usual_encoder="bert"),
    "vision-encoder-decoder": partial(translate, usual_encoder="vit"),
}
