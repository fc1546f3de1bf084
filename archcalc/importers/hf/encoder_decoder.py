"""Any text or vision encoder with any decoder; each half's config is read by its own translator."""

from archcalc.importers.hf._helpers import Config, Fields, two_models

TYPES = {"encoder-decoder": {"usual_encoder": "bert"}, "vision-encoder-decoder": {"usual_encoder": "vit"}}
USUAL = "seq2seq"


def translate(c: Config, *, usual_encoder: str) -> Fields:
    return two_models.joined(c, usual_encoder)
