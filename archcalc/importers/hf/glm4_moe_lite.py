"""GLM-4.7 Flash: multi-head latent attention (MLA), one dense block, then MoE blocks with routed and shared experts."""

from archcalc.importers.hf._helpers import Config, Fields, inert, latent
from archcalc.importers.hf._helpers.moe import listed, one_dense_first, used

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}


def translate(c: Config) -> Fields:
    parts = listed(c, one_dense_first(c))
    return latent.mla_decoder(c, latent.mla(c), parts, **used(c, parts, lambda: latent.deepseek_experts(c)))
