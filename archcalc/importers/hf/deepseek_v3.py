"""DeepSeek V3, R1 and Kimi K2: multi-head latent attention (MLA), dense blocks first, then MoE with shared experts."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.latent import deepseek_experts, latent, latent_decoder
from archcalc.importers.hf._helpers.moe import first_dense, used
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.USUAL_LAYERS: "moe_layer_freq"}


def translate(c: Config, task: str) -> Fields:
    parts = first_dense(c)
    return latent_decoder(c, task, latent(c), parts, **used(c, parts, lambda: deepseek_experts(c)))
