"""Text model of Qwen 3 VL: Qwen 3 without sliding windows."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields, decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("qwen3_vl_text",)
USUAL = "causal"
INERT: dict[str, str] = {}


def translate(c: Config, task: str) -> Fields:
    return decoder(c, task, attention={"bias": c.flag("attention_bias"), "qk_norm": "head"})
