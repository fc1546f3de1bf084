"""DeepSeek V2: multi-head latent attention (MLA), dense blocks first, then MoE with routed and shared experts."""

from archcalc.importers.hf._helpers import Config, Fields, ffn, inert, latent
from archcalc.importers.hf._helpers.moe import first_dense, used

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", inert.USUAL_LAYERS: "moe_layer_freq"}


def translate(c: Config) -> Fields:
    parts, bias = first_dense(c), c.flag("mlp_bias")
    made = used(c, parts, lambda: latent.deepseek_experts(c, bias=bias, correction=False), lambda: ffn(c, bias=bias))
    return latent.mla_decoder(c, latent.mla(c), parts, **made)
