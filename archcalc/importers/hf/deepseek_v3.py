"""DeepSeek V3, R1 and Kimi K2: multi-head latent attention (MLA), dense blocks first, then MoE with shared experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.latent import deepseek_experts, latent, latent_decoder
from archcalc.importers.hf._helpers.moe import first_dense, used
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("deepseek_v3",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads qk_head_dim",
    inert.ROUTING: (
        "n_group topk_group routed_scaling_factor norm_topk_prob scoring_func seq_aux ep_size aux_loss_alpha"
    ),
    inert.ORDER: "rope_interleave",
    inert.USUAL_LAYERS: "moe_layer_freq",
    inert.PREDICTING: "num_mtp_layers",
}


def translate(c: Config, task: str) -> Fields:
    parts = first_dense(c)
    return latent_decoder(c, task, latent(c), parts, **used(c, parts, lambda: deepseek_experts(c)))
