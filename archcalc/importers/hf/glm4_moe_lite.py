"""GLM-4.7 Flash: multi-head latent attention (MLA), one dense block, then MoE blocks with routed and shared experts."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.latent import deepseek_experts, latent, latent_decoder
from archcalc.importers.hf._helpers.moe import listed, one_dense_first, used
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}


def translate(c: Config, task: str) -> Fields:
    parts = listed(c, one_dense_first(c))
    return latent_decoder(c, task, latent(c), parts, **used(c, parts, lambda: deepseek_experts(c)))
