"""MiniCPM 3: dense model with multi-head latent attention (MLA); v_head_dim defaults to hidden_size / heads."""

from archcalc.importers.hf._helpers import Config, Fields, even_heads, ffn, inert, latent

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads head_dim", inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}


def translate(c: Config) -> Fields:
    wide = ffn(c, bias=c.flag("mlp_bias"))
    attention = latent.mla(c, c.size_or("v_head_dim", even_heads(c)))
    return latent.mla_decoder(c, attention, ["ffn"] * c.size("num_hidden_layers"), ffn=wide)
