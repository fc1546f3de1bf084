"""Qwen 3: QK norm, optional sliding windows in later blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, qwen_like

INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config) -> Fields:
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    return decoder(c, attention=attention, **qwen_like.qwen_windows(c))
