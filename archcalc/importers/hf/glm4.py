"""GLM-4, and the text models of GLM-OCR and GLM-Image: biases on q, k and v, norms before and after each sublayer."""

from archcalc.importers.hf._helpers import Config, Fields, biased, decoder, inert

TYPES = ("glm4", "glm_ocr_text", "glm_image_text")
INERT = {inert.TOKENS: "vision_vocab_size"}


def translate(c: Config) -> Fields:
    attention = {"bias": biased(qkv=c.flag("attention_bias"))}
    return decoder(c, attention=attention, norm={"kind": "rms", "place": "sandwich"})
