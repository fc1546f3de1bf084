"""Helium: Llama whose attention output projection has no bias."""

from archcalc.importers.hf._helpers.blocks import head_dim
from archcalc.importers.hf._helpers.llama_like import llama_like
from archcalc.importers.hf._helpers.reading import Config, Fields


def translate(c: Config, task: str) -> Fields:
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        why = "the class expects all heads together to have hidden_size outputs, so such a model cannot run"
        raise c.refused("head_dim", why)
    return llama_like(c, task, out_bias=False)
