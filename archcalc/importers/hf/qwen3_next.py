"""Qwen3-Next: MoE with Gated DeltaNet in three of four blocks and gated attention in the fourth."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.qwen_like import delta_decoder, gated_experts, sparse_parts
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config, task: str) -> Fields:
    moe = gated_experts(c)
    c.skip("intermediate_size")
    return delta_decoder(c, task, sparse_parts(c, moe["experts"]), moe)
