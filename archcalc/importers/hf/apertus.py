"""Apertus: Llama with QK norm, and a non-gated FFN with a learned activation (xIELU)."""

from archcalc.importers.hf._helpers import Config, Fields, activation, decoder


def translate(c: Config) -> Fields:
    act = c.text("hidden_act")
    if act != "xielu":
        act = activation(c)
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    return decoder(c, attention=attention, ffn={"width": c.size("intermediate_size"), "act": act})
