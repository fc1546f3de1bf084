"""DeepSeek V3, R1 and Kimi K2: multi-head latent attention (MLA), dense blocks first, then MoE with shared experts."""

from archcalc.importers.hf._helpers import Config, Fields, inert, latent
from archcalc.importers.hf._helpers.moe import first_dense, used

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.USUAL_LAYERS: "moe_layer_freq"}


def translate(c: Config) -> Fields:
    parts = first_dense(c)
    return latent.mla_decoder(c, latent.mla(c), parts, **used(c, parts, lambda: latent.deepseek_experts(c)))
