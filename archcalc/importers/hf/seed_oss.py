"""Seed-OSS: Llama with a separate config switch for the bias of the attention output projection."""

from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    return llama_like(c, task, out_bias=c.flag("attention_out_bias"))
