"""Helium: Llama whose attention output projection has no bias."""

from archcalc.importers.hf._helpers import Config, Fields, head_dim, llama_like


def translate(c: Config) -> Fields:
    if head_dim(c) * c.size("num_attention_heads") != c.size("hidden_size"):
        why = "the class expects all heads together to have hidden_size outputs, so such a model cannot run"
        raise c.refused("head_dim", why)
    return llama_like.llama(c, out_bias=False)
