"""MPT: ALiBi, no biases, an FFN of four times hidden_size."""

from __future__ import annotations

from archcalc.importers.hf._helpers import inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.gpt2_like import alibi_decoder
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("mpt",)
USUAL = "causal"
INERT = {
    inert.NO_SUCH_SIZE: "expansion_ratio head_dim num_key_value_heads seq_length n_inner",
    inert.SCALING: "logit_scale embedding_fraction",
    inert.STARTING: "init_device init_config",
    inert.TRAINING: "attn_pdrop emb_pdrop",
    inert.RUNNING: "verbose",
    inert.TOKENS: "unk_index",
    inert.UNREAD: "skip_bias_add skip_bias_add_qkv no_bias learned_pos_emb attn_config norm_type",
}


def translate(c: Config, task: str) -> Fields:
    position = {"kind": "alibi", "length": c.size("max_seq_len")}
    return alibi_decoder(c, task, act="gelu", norm={"bias": False}, bias=False, position=position)
