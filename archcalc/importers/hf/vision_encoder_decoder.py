"""VisionEncoderDecoder: any vision encoder with any decoder; each half's config is read by its own translator."""

from archcalc.importers.hf._helpers import Config, Fields, two_models

TYPES = ("vision-encoder-decoder",)
USUAL = "seq2seq"


def translate(c: Config) -> Fields:
    return two_models.joined(c, usual_encoder="vit")
