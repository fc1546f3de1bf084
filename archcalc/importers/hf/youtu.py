"""Youtu-LLM: dense model with multi-head latent attention (MLA)."""

from archcalc.importers.hf._helpers import Config, Fields, inert, latent

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}


def translate(c: Config) -> Fields:
    return latent.mla_decoder(c, latent.mla(c), ["ffn"] * c.size("num_hidden_layers"))
