"""Text model of Qwen 3.5 MoE: Gated DeltaNet in three of four blocks, gated attention in the fourth; MoE in all."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.moe import all_sparse
from archcalc.importers.hf._helpers.qwen_like import delta_decoder, gated_experts
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.USUAL_LAYERS: "full_attention_interval"}


def translate(c: Config, task: str) -> Fields:
    return delta_decoder(c, task, all_sparse(c), gated_experts(c))
