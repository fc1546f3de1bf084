"""OLMo: Llama with non-parametric LayerNorm."""

from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": c.flag("attention_bias")}
    return decoder(c, task, attention=attention, norm={"kind": "layer", "affine": False})
