"""Qwen 2, and the text model of Qwen 2.5 Omni: biases on q, k and v, optional sliding windows in later blocks."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import decoder
from archcalc.importers.hf._helpers.qwen_like import qwen_windows
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("qwen2", "qwen2_5_omni_text")
INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config, task: str) -> Fields:
    return decoder(c, task, attention={"bias": ["q", "k", "v"]}, **qwen_windows(c))
