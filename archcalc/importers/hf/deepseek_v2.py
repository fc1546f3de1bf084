"""DeepSeek V2: multi-head latent attention (MLA), dense blocks first, then MoE with routed and shared experts."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields, ffn
from archcalc.importers.hf._helpers.latent import deepseek_experts, latent, latent_decoder
from archcalc.importers.hf._helpers.moe import first_dense, used
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("deepseek_v2",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "num_key_value_heads head_dim qk_head_dim",
    inert.ROUTING: (
        "n_group topk_group topk_method routed_scaling_factor norm_topk_prob scoring_func seq_aux ep_size "
        "aux_loss_alpha"
    ),
    inert.USUAL_LAYERS: "moe_layer_freq",
}


def translate(c: Config, task: str) -> Fields:
    parts, bias = first_dense(c), c.flag("mlp_bias")
    made = used(c, parts, lambda: deepseek_experts(c, bias=bias, correction=False), lambda: ffn(c, bias=bias))
    return latent_decoder(c, task, latent(c), parts, **made)
