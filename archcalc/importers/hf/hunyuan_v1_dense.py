"""Hunyuan dense: Llama with QK norm."""

from archcalc.importers.hf._helpers import Config, Fields, llama_like

TYPES = ("hunyuan_v1_dense", "hunyuan_vl_text")


def translate(c: Config) -> Fields:
    return llama_like.llama(c, qk_norm="head")
