"""Qwen 2, and the text model of Qwen 2.5 Omni: biases on q, k and v, optional sliding windows in later blocks."""

from archcalc.importers.hf._helpers import Config, Fields, decoder, inert, qwen_like

TYPES = ("qwen2", "qwen2_5_omni_text")
INERT = {inert.USUAL_LAYERS: "max_window_layers", inert.NOT_HERE: "use_sliding_window sliding_window"}


def translate(c: Config) -> Fields:
    return decoder(c, attention={"bias": ["q", "k", "v"]}, **qwen_like.qwen_windows(c))
