"""Mixtures of experts of transformers, each written as a spec."""

from __future__ import annotations

import pytest
from support.same_tensors import Case, check
from support.small_decoders import (
    EXPERTS,
    LOCAL,
    LOCAL_EXPERTS,
    MOE,
    NARROW,
    NO_KV,
    NUMBERED,
    QKV_BIAS,
    ROUTED,
    SHARED,
    TOP,
    WIDTH,
    blocks,
    gated,
    hf,
    usual,
)

ALL_MOE = blocks("attention moe")
DENSE_FIRST = {"pattern": ["attention ffn", "3 × attention moe"]}
LATENT = {"kv_lora_rank": 12, "qk_nope_head_dim": 10, "qk_rope_head_dim": 4, "v_head_dim": 6, **NO_KV}
MLA = {"kind": "mla", "kv_rank": 12, "nope_dim": 10, "rope_dim": 4, "v_dim": 6}

CASES = [
    Case("MixtralForCausalLM", hf(**LOCAL_EXPERTS), usual(ffn=None, moe=MOE, decoder=ALL_MOE), ("experts",)),
    Case(
        "GraniteMoeForCausalLM",
        hf(**LOCAL_EXPERTS, tie_word_embeddings=False),
        usual(ffn=None, moe=MOE, decoder=ALL_MOE),
        ("experts",),
    ),
    Case(
        "OlmoeForCausalLM",
        hf(num_experts=EXPERTS, num_experts_per_tok=TOP),
        usual(ffn=None, moe=MOE, decoder=ALL_MOE, attention={"qk_norm": "all"}),
        ("experts",),
    ),
    Case(
        "PhimoeForCausalLM",
        hf(**LOCAL_EXPERTS, attention_bias=True, lm_head_bias=True),
        usual(ffn=None, moe=MOE, decoder=ALL_MOE, norm="layer", attention={"bias": True}, head={"bias": True}),
        ("experts",),
    ),
    Case(
        "MiniMaxM2ForCausalLM",
        hf(**LOCAL_EXPERTS, head_dim=8),
        usual(ffn=None, moe={**MOE, "correction": True}, decoder=ALL_MOE, attention={"qk_norm": "all"}),
        ("experts",),
    ),
    Case(
        "GptOssForCausalLM",
        hf(**LOCAL_EXPERTS, head_dim=16, sliding_window=7),
        usual(
            head_dim=16,
            ffn=None,
            moe={**MOE, "bias": True, "router_bias": True},
            attention={"sinks": True, "bias": True},
            variants=LOCAL,
            decoder=blocks("local moe", "attention moe"),
        ),
        ("experts",),
    ),
    Case(
        "Qwen2MoeForCausalLM",
        hf(**NUMBERED, shared_expert_intermediate_size=SHARED, mlp_only_layers=[1], qkv_bias=True),
        usual(
            moe={**NARROW, "shared": SHARED, "shared_gate": True},
            attention=QKV_BIAS,
            decoder={"pattern": ["attention moe", "attention ffn", "2 × attention moe"]},
        ),
        ("experts",),
    ),
    Case(
        "Qwen3MoeForCausalLM",
        hf(**NUMBERED, head_dim=16),
        usual(head_dim=16, ffn=None, moe=NARROW, attention={"qk_norm": "head"}, decoder=ALL_MOE),
        ("experts",),
    ),
    Case(
        "DeepseekV2ForCausalLM",
        hf(**ROUTED, **LATENT, n_shared_experts=2, first_k_dense_replace=1, q_lora_rank=None, attention_bias=True),
        usual(
            kv_heads=None,
            moe={**NARROW, "shared": 2 * WIDTH},
            attention={**MLA, "bias": True},
            decoder=DENSE_FIRST,
        ),
        ("experts",),
    ),
    Case(
        "DeepseekV3ForCausalLM",
        hf(**ROUTED, **LATENT, first_k_dense_replace=1, q_lora_rank=14, n_group=2, topk_group=1),
        usual(
            kv_heads=None,
            moe={**NARROW, "shared": WIDTH, "correction": True},
            attention={**MLA, "q_rank": 14},
            decoder=DENSE_FIRST,
        ),
        ("experts",),
    ),
    Case(
        "Glm4MoeForCausalLM",
        hf(**ROUTED, first_k_dense_replace=1, head_dim=16, use_qk_norm=True, attention_bias=True),
        usual(
            head_dim=16,
            moe={**NARROW, "shared": WIDTH, "correction": True},
            attention={"qk_norm": "head", **QKV_BIAS},
            decoder=DENSE_FIRST,
        ),
        ("experts",),
    ),
    Case(
        "Llama4ForCausalLM",
        hf(
            num_local_experts=EXPERTS,
            num_experts_per_tok=1,
            intermediate_size=WIDTH,
            intermediate_size_mlp=44,
            interleave_moe_layer_step=2,
            head_dim=8,
        ),
        usual(
            ffn=gated(44),
            moe={**NARROW, "top": 1, "shared": WIDTH},
            attention={"qk_norm": {"affine": False}, "chunk": 8192},
            variants={"nope": {"like": "attention", "position": "none", "qk_norm": {"affine": False}}},
            decoder={"pattern": ["attention ffn", "attention moe", "attention ffn", "nope moe"]},
        ),
        ("experts",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_mixture_has_the_tensors_of_its_class(case: Case) -> None:
    """Every tensor by shape and number, not only their sum."""
    check(case)
