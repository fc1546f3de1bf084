"""Hunyuan dense: Llama with QK norm."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("hunyuan_v1_dense", "hunyuan_vl_text")
USUAL = "causal"
INERT: dict[str, str] = {}


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task, qk_norm="head")
