"""Qwen 3: QK norm, optional sliding windows in later blocks."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.qwen_like import qwen_windows
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    return decoder(c, task, attention=attention, **qwen_windows(c))
