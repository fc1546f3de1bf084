"""DeepSeek V2: multi-head latent attention (MLA), dense blocks first, then MoE with routed and shared experts."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import ffn
from archcalc.importers.hf._helpers.latent import deepseek_experts, latent, latent_decoder
from archcalc.importers.hf._helpers.moe import first_dense, used
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", inert.USUAL_LAYERS: "moe_layer_freq"}


def translate(c: Config, task: str) -> Fields:
    parts, bias = first_dense(c), c.flag("mlp_bias")
    made = used(c, parts, lambda: deepseek_experts(c, bias=bias, correction=False), lambda: ffn(c, bias=bias))
    return latent_decoder(c, task, latent(c), parts, **made)
