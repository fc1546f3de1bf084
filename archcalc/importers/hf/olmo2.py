"""OLMo 2: norms after each sublayer, and QK norm over all heads together."""

from archcalc.importers.hf._helpers import Config, Fields, decoder


def translate(c: Config) -> Fields:
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "all"}
    return decoder(c, attention=attention, norm={"kind": "rms", "place": "out"})
