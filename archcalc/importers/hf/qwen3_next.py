"""Qwen3-Next: MoE with Gated DeltaNet in three of four blocks and gated attention in the fourth."""

from archcalc.importers.hf._helpers import Config, Fields, inert, qwen_like

INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config) -> Fields:
    moe = qwen_like.gated_experts(c)
    c.skip("intermediate_size")
    return qwen_like.delta_decoder(c, qwen_like.sparse_parts(c, moe["experts"]), moe)
