"""OLMo 2: norms after each sublayer, and QK norm over all heads together."""

from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "all"}
    return decoder(c, task, attention=attention, norm={"kind": "rms", "place": "out"})
