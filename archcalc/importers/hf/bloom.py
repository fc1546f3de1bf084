"""BLOOM: ALiBi, a norm after the embedding, an FFN of four times hidden_size."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like, inert

INERT = {
    inert.NO_SUCH_SIZE: "seq_length n_inner",
    inert.ORDER: "apply_residual_connection_post_layernorm",
    inert.UNREAD: "skip_bias_add skip_bias_add_qkv",
}


def translate(c: Config) -> Fields:
    return gpt2_like.alibi_decoder(c, act="gelu_tanh", position="alibi", embedding={"norm": True})
