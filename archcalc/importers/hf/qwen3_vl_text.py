"""Text model of Qwen 3 VL: Qwen 3 without sliding windows."""

from archcalc.importers.hf._helpers import Config, Fields, decoder


def translate(c: Config) -> Fields:
    return decoder(c, attention={"bias": c.flag("attention_bias"), "qk_norm": "head"})
