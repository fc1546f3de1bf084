"""VisionEncoderDecoder: any vision encoder with any decoder; each half's config is read by its own translator."""

from archcalc.importers.hf._helpers.reading import Config, Fields
from archcalc.importers.hf._helpers.two_models import two_models

TYPES = ("vision-encoder-decoder",)
USUAL = "seq2seq"


def translate(c: Config, task: str) -> Fields:
    return two_models(c, task, usual_encoder="vit")
