"""MPT: ALiBi, no biases, an FFN of four times hidden_size."""

from archcalc.importers.hf._helpers import Config, Fields, gpt2_like, inert

INERT = {
    inert.NO_SUCH_SIZE: "expansion_ratio seq_length n_inner",
    inert.UNREAD: "skip_bias_add skip_bias_add_qkv no_bias learned_pos_emb attn_config norm_type",
}


def translate(c: Config) -> Fields:
    position = {"kind": "alibi", "length": c.size("max_seq_len")}
    return gpt2_like.alibi_decoder(c, act="gelu", norm={"bias": False}, bias=False, position=position)
