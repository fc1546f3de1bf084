"""StarCoder (GPT BigCode): GPT-2 with optional multi-query attention (one KV head)."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like, inert

INERT = {inert.NO_SUCH_SIZE: "n_ctx"}


def translate(c: Config) -> Fields:
    if c.flag("multi_query") and c.flag("add_cross_attention"):
        raise c.refused("add_cross_attention", "the class does not support cross-attention with multi_query")
    return gpt2_like.gpt2(c, kv_heads=c.choose("multi_query", 1, c.size("n_head")))
