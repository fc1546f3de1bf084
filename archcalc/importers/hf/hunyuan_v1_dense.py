"""Hunyuan dense: Llama with QK norm."""

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields

TYPES = ("hunyuan_v1_dense", "hunyuan_vl_text")


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task, qk_norm="head")
