"""MPT: ALiBi, no biases, an FFN of four times hidden_size."""

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.gpt2_like import alibi_decoder
from archcalc.importers.hf._helpers.reading import Config, Fields

INERT = {
    inert.NO_SUCH_SIZE: "expansion_ratio seq_length n_inner",
    inert.UNREAD: "skip_bias_add skip_bias_add_qkv no_bias learned_pos_emb attn_config norm_type",
}


def translate(c: Config, task: str) -> Fields:
    position = {"kind": "alibi", "length": c.size("max_seq_len")}
    return alibi_decoder(c, task, act="gelu", norm={"bias": False}, bias=False, position=position)
