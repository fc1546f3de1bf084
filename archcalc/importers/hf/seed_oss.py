"""Seed-OSS: Llama with a separate config switch for the bias of the attention output projection."""

from archcalc.importers.hf._helpers import Config, Fields, llama_like


def translate(c: Config) -> Fields:
    return llama_like.llama(c, out_bias=c.flag("attention_out_bias"))
