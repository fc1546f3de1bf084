"""GLM-4, and the text models of GLM-OCR and GLM-Image: biases on q, k and v, norms before and after each sublayer."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import biased, decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("glm4", "glm_ocr_text", "glm_image_text")
INERT = {inert.TOKENS: "vision_vocab_size"}


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": biased(qkv=c.flag("attention_bias"))}
    return decoder(c, task, attention=attention, norm={"kind": "rms", "place": "sandwich"})
