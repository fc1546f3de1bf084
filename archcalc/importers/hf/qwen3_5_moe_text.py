"""Text model of Qwen 3.5 MoE: Gated DeltaNet in three of four blocks, gated attention in the fourth; MoE in all."""

from archcalc.importers.hf._helpers import Config, Fields, inert, qwen_like
from archcalc.importers.hf._helpers.moe import all_sparse

INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config) -> Fields:
    return qwen_like.delta_decoder(c, all_sparse(c), qwen_like.gated_experts(c))
