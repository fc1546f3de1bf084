"""OLMo: Llama with non-parametric LayerNorm."""

from archcalc.importers.hf._helpers import Config, Fields, decoder


def translate(c: Config) -> Fields:
    attention = {"bias": c.flag("attention_bias")}
    return decoder(c, attention=attention, norm={"kind": "layer", "affine": False})
