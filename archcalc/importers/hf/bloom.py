"""BLOOM (a norm on the embedding) and MPT (no bias anywhere): ALiBi, and an FFN four times as wide."""

from __future__ import annotations

from archcalc.importers.hf._helpers import heads
from archcalc.importers.hf._helpers.blocks import Fields, divided
from archcalc.importers.hf._helpers.patterns import stack
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("bloom", "mpt")
USUAL = "causal"
INERT = (
    "apply_residual_connection_post_layernorm slow_but_exact skip_bias_add skip_bias_add_qkv attn_pdrop"
    " expansion_ratio no_bias learned_pos_emb attn_config init_device logit_scale embedding_fraction norm_type"
    " verbose init_config emb_pdrop head_dim num_key_value_heads unk_index seq_length n_inner"
)


def translate(c: Config, task: str) -> Fields:
    bloom = c.type == "bloom"
    d_model = c.given("n_embed") or c.size("hidden_size")
    c.skip("hidden_size")
    number = c.size("num_attention_heads")
    return {
        "vocab": c.size("vocab_size"),
        "d_model": d_model,
        "heads": number,
        "head_dim": divided(c, d_model, number),
        "ffn": {"width": 4 * d_model, "act": "gelu_tanh" if bloom else "gelu"},
        "norm": None if bloom else {"bias": False},
        "bias": None if bloom else False,
        "position": "alibi" if bloom else {"kind": "alibi", "length": c.size("max_seq_len")},
        "embedding": {"norm": True} if bloom else None,
        "decoder": stack(["attention ffn"] * c.size("num_hidden_layers")),
        "head": heads.of_decoder(c, task),
    }
