"""BLOOM: ALiBi, a norm after the embedding, an FFN of four times hidden_size."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.gpt2_like import alibi_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {
    inert.NO_SUCH_SIZE: "seq_length n_inner",
    inert.ORDER: "apply_residual_connection_post_layernorm",
    inert.UNREAD: "skip_bias_add skip_bias_add_qkv",
}


def translate(c: Config, task: str) -> Fields:
    return alibi_decoder(c, task, act="gelu_tanh", position="alibi", embedding={"norm": True})
