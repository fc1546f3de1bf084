"""Youtu-LLM: dense model with multi-head latent attention (MLA)."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.latent import latent, latent_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}


def translate(c: Config, task: str) -> Fields:
    return latent_decoder(c, task, latent(c), ["ffn"] * c.size("num_hidden_layers"))
