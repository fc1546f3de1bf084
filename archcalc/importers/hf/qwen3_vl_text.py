"""Text model of Qwen 3 VL: Qwen 3 without sliding windows."""

from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return decoder(c, task, attention={"bias": c.flag("attention_bias"), "qk_norm": "head"})
