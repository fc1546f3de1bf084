"""StarCoder (GPT BigCode): GPT-2 with optional multi-query attention (one KV head)."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.gpt2_like import gpt2_like
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("gpt_bigcode",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "n_ctx head_dim num_key_value_heads",
    inert.SCALING: "scale_attn_weights",
    inert.RUNNING: "attention_softmax_in_fp32",
}


def translate(c: Config, task: str) -> Fields:
    one = c.flag("multi_query")
    if one and c.flag("add_cross_attention"):
        raise c.refused("add_cross_attention", "the class does not support cross-attention with multi_query")
    return gpt2_like(c, task, kv_heads=1 if one else c.size("n_head"))
