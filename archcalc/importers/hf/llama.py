"""Llama, and those that differ from it in which biases can be switched on, or in nothing that is counted."""

from __future__ import annotations

from archcalc.importers.hf.blocks import Fields, biased, decoder, ffn, window
from archcalc.importers.hf.reading import Config

TYPES = ("llama", "mistral", "granite", "gemma", "phi3", "seed_oss", "ernie4_5", "arcee")
USUAL = "causal"
INERT = (
    "embedding_multiplier logits_scaling residual_multiplier attention_multiplier original_max_position_embeddings"
    " use_bidirectional_attention"
)


def translate(c: Config, task: str) -> Fields:
    bias = c.flag("attention_bias") or c.flag("use_bias")
    out = c.flag("attention_out_bias") if c.type == "seed_oss" else bias
    wide = ffn(c, bias=c.flag("mlp_bias") or c.flag("use_bias"), gated=c.type != "arcee")
    return decoder(c, task, ffn=wide, attention={"bias": biased(qkv=bias, o=out), **window(c)})
