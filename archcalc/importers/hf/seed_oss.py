"""Seed-OSS: Llama with a separate config switch for the bias of the attention output projection."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("seed_oss",)
USUAL = "causal"
INERT: dict[str, str] = {}


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task, out_bias=c.flag("attention_out_bias"))
