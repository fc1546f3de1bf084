"""Qwen 3: QK norm, optional sliding windows in later blocks."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.qwen_like import qwen_windows
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("qwen3",)
USUAL = "causal"
INERT = {
    inert.USUAL_LAYERS: "max_window_layers",
    inert.NOT_HERE: "use_sliding_window sliding_window",
}


def translate(c: Config, task: str) -> Fields:
    attention = {"bias": c.flag("attention_bias"), "qk_norm": "head"}
    return decoder(c, task, attention=attention, **qwen_windows(c))
