"""Decoders of transformers, each written as a spec: small sizes, all different, and what makes it special."""

from __future__ import annotations

import pytest
from support.same_tensors import Case, check
from support.small_decoders import (
    BLOCKS,
    FFN,
    HEADS,
    KV,
    LEARNED,
    LOCAL,
    NO_KV,
    OUT,
    QKV_BIAS,
    SANDWICH,
    VOCAB,
    D,
    blocks,
    gated,
    hf,
    usual,
)

CASES = [
    Case("LlamaForCausalLM", hf(attention_bias=True, mlp_bias=True), usual(bias=True)),
    Case("LlamaForCausalLM", hf(head_dim=10, tie_word_embeddings=True), usual(head_dim=10, head="tied")),
    Case("GraniteForCausalLM", hf(tie_word_embeddings=True), usual(head="tied")),
    Case(
        "SmolLM3ForCausalLM",
        hf(tie_word_embeddings=False),
        usual(
            variants={"nope": {"like": "attention", "position": "none"}},
            decoder=blocks("3 × attention ffn", "nope ffn"),
        ),
    ),
    Case("GemmaForCausalLM", hf(head_dim=16), usual(head_dim=16, head="tied", ffn=gated(act="gelu_tanh"))),
    Case("MistralForCausalLM", hf(sliding_window=7), usual(attention={"window": 7})),
    Case("Phi3ForCausalLM", hf(), usual(), ("qkv", "gate_up")),
    Case("Qwen2ForCausalLM", hf(), usual(attention=QKV_BIAS)),
    Case(
        "Qwen3ForCausalLM",
        hf(head_dim=16, attention_bias=True),
        usual(head_dim=16, attention={"qk_norm": "head", "bias": True}),
    ),
    Case(
        "GlmForCausalLM",
        hf(head_dim=16, attention_bias=True),
        usual(head_dim=16, attention=QKV_BIAS, position={"kind": "rope", "fraction": 0.5}),
        ("gate_up",),
    ),
    Case("Glm4ForCausalLM", hf(head_dim=16, attention_bias=False), usual(head_dim=16, norm=SANDWICH), ("gate_up",)),
    Case(
        "SeedOssForCausalLM",
        hf(head_dim=16, attention_bias=True, attention_out_bias=False),
        usual(head_dim=16, attention=QKV_BIAS),
    ),
    Case("Ernie4_5ForCausalLM", hf(head_dim=8, use_bias=True), usual(bias=True, head="tied")),
    Case("OlmoForCausalLM", hf(), usual(norm={"affine": False})),
    Case("Olmo2ForCausalLM", hf(), usual(norm=OUT, attention={"qk_norm": "all"})),
    Case(
        "Olmo3ForCausalLM",
        hf(sliding_window=7),
        usual(
            norm=OUT,
            attention={"qk_norm": "all"},
            variants=LOCAL,
            decoder=blocks("3 × local ffn", "attention ffn"),
        ),
    ),
    Case("Exaone4ForCausalLM", hf(sliding_window=7), usual(norm=OUT, attention={"qk_norm": "head"})),
    Case(
        "Gemma2ForCausalLM",
        hf(head_dim=16, sliding_window=7),
        usual(
            head_dim=16,
            head="tied",
            attention={"softcap": 50},
            norm=SANDWICH,
            variants=LOCAL,
            decoder=blocks("local ffn", "attention ffn"),
        ),
    ),
    Case(
        "Gemma3ForCausalLM",
        hf(head_dim=16),
        usual(head_dim=16, head="tied", attention={"qk_norm": "head"}, norm=SANDWICH),
    ),
    Case(
        "CohereForCausalLM",
        hf(use_qk_norm=True),
        usual(head="tied", norm={"bias": False}, parallel="shared", attention={"qk_norm": "heads"}),
    ),
    Case("Cohere2ForCausalLM", hf(), usual(head="tied", norm={"bias": False}, parallel="shared")),
    Case(
        "StableLmForCausalLM",
        hf(use_qkv_bias=True, use_parallel_residual=True),
        usual(norm="layer", attention=QKV_BIAS, parallel="shared"),
    ),
    Case("Starcoder2ForCausalLM", hf(), usual(norm="layer", bias=True, ffn=FFN, head="tied")),
    Case(
        "PhiForCausalLM",
        hf(qk_layernorm=True),
        usual(norm="layer", bias=True, ffn=FFN, head={"bias": True}, parallel="shared", attention={"qk_norm": "head"}),
    ),
    Case(
        "GPTJForCausalLM",
        {"vocab_size": VOCAB, "n_embd": D, "n_head": HEADS, "n_layer": BLOCKS, "n_inner": FFN, "rotary_dim": 4},
        usual(
            kv_heads=None,
            norm="layer",
            bias=True,
            attention={"bias": False},
            ffn=FFN,
            head={"bias": True},
            parallel="shared",
        ),
    ),
    Case(
        "CodeGenForCausalLM",
        {"vocab_size": VOCAB, "n_embd": D, "n_head": 4, "n_layer": BLOCKS, "n_inner": FFN, "rotary_dim": 4},
        usual(
            heads=4,
            kv_heads=None,
            norm="layer",
            bias=True,
            attention={"bias": False},
            ffn=FFN,
            head={"bias": True},
            parallel="shared",
        ),
        ("qkv",),
    ),
    Case(
        "GPTNeoXForCausalLM",
        hf(**NO_KV, use_parallel_residual=True, attention_bias=False),
        usual(
            kv_heads=None, norm="layer", bias=True, attention={"bias": False}, ffn=FFN, parallel="separate", head="lm"
        ),
        ("qkv",),
    ),
    Case(
        "GPTNeoForCausalLM",
        {
            "vocab_size": VOCAB,
            "hidden_size": D,
            "num_heads": HEADS,
            "num_layers": BLOCKS,
            "intermediate_size": FFN,
            "max_position_embeddings": 64,
            "window_size": 7,
            "attention_types": [[["global", "local"], 2]],
        },
        usual(
            kv_heads=None,
            norm="layer",
            position=LEARNED,
            attention={"bias": ["o"]},
            bias=True,
            ffn=FFN,
            head="tied",
            variants=LOCAL,
            decoder=blocks("attention ffn", "local ffn"),
        ),
    ),
    Case(
        "GPT2LMHeadModel",
        {
            "vocab_size": VOCAB,
            "n_embd": D,
            "n_head": HEADS,
            "n_layer": BLOCKS,
            "n_positions": 64,
            "add_cross_attention": True,
        },
        {
            "vocab": VOCAB,
            "d_model": D,
            "heads": HEADS,
            "ffn": 4 * D,
            "position": LEARNED,
            "head": "tied",
            "cross": {"memory": D},
            "decoder": blocks("attention cross ffn"),
        },
        ("attention.qkv", "cross.kv"),
    ),
    Case(
        "GPTBigCodeForCausalLM",
        {"vocab_size": VOCAB, "n_embd": D, "n_head": HEADS, "n_layer": BLOCKS, "n_inner": FFN, "n_positions": 64},
        usual(kv_heads=1, ffn=FFN, norm="layer", bias=True, position=LEARNED, head="tied"),
        ("qkv",),
    ),
    Case(
        "OPTForCausalLM",
        {
            "vocab_size": VOCAB,
            "hidden_size": D,
            "num_attention_heads": HEADS,
            "ffn_dim": FFN,
            "num_hidden_layers": BLOCKS,
            "max_position_embeddings": 64,
            "word_embed_proj_dim": 24,
            "do_layer_norm_before": False,
        },
        usual(
            kv_heads=None,
            bias=True,
            ffn={"width": FFN, "act": "relu"},
            position={**LEARNED, "offset": 2},
            embedding={"width": 24, "project": "tokens"},
            norm={"place": "post"},
            head="tied",
        ),
    ),
    Case(
        "BloomForCausalLM",
        {"vocab_size": VOCAB, "hidden_size": D, "n_head": HEADS, "n_layer": BLOCKS},
        usual(
            kv_heads=None,
            norm="layer",
            bias=True,
            ffn=4 * D,
            position="alibi",
            embedding={"norm": True},
            head="tied",
        ),
        ("qkv",),
    ),
    Case(
        "MptForCausalLM",
        {"vocab_size": VOCAB, "d_model": D, "n_heads": 4, "n_layers": BLOCKS},
        usual(heads=4, kv_heads=None, ffn=4 * D, position="alibi", norm={"bias": False}, head="tied"),
        ("qkv",),
    ),
    Case(
        "FalconForCausalLM",
        {
            "vocab_size": VOCAB,
            "hidden_size": D,
            "num_attention_heads": HEADS,
            "num_kv_heads": KV,
            "new_decoder_architecture": True,
            "num_hidden_layers": BLOCKS,
            "ffn_hidden_size": FFN,
        },
        usual(ffn=FFN, norm="layer", parallel="separate", head="tied"),
        ("qkv",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_decoder_has_the_tensors_of_its_class(case: Case) -> None:
    """Every tensor by shape and number, not only their sum."""
    check(case)


def test_a_norm_for_each_head_keeps_as_many_numbers() -> None:
    """StableLM keeps a small tensor for each head, archcalc one for all of them: HEADS × 8 and KV × 8 a block."""
    import archcalc

    plain = usual(norm="layer", attention=QKV_BIAS)
    normed = usual(norm="layer", attention={**QKV_BIAS, "qk_norm": {"over": "heads", "bias": False}})
    more = archcalc.load(normed).params().total - archcalc.load(plain).params().total
    assert more == BLOCKS * (HEADS * 8 + KV * 8)
