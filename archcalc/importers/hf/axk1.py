"""A.X K1: multi-head latent attention (MLA), dense blocks first, then MoE blocks with a norm on the expert output."""

from archcalc.importers.hf._helpers import Config, Fields, inert, latent
from archcalc.importers.hf._helpers.moe import listed, sparse_where, used

INERT = {inert.NO_SUCH_SIZE: "num_key_value_heads", inert.USUAL_LAYERS: "first_k_dense_replace moe_layer_freq"}


def translate(c: Config) -> Fields:
    first, every = c.given_or("first_k_dense_replace", 1), c.given_or("moe_layer_freq", 1)  # null means one
    parts = listed(c, sparse_where(c, lambda block: block >= first and block % every == 0))
    behind = {"kind": "rms", "place": "sandwich"}
    return latent.mla_decoder(
        c, latent.mla(c), parts, **used(c, parts, lambda: latent.deepseek_experts(c, norm=behind))
    )
