"""State-space models of transformers and hybrids with attention, each written as a spec."""

from __future__ import annotations

import pytest
from support.same_tensors import Case, check
from support.small_decoders import (
    BLOCKS,
    EXPERTS,
    FFN,
    HEADS,
    KV,
    MOE,
    NARROW,
    NUMBERED,
    ROUTED,
    SHARED,
    TOP,
    VOCAB,
    D,
    blocks,
    gated,
    hf,
    usual,
)

STATE = {"state_size": 6, "conv_kernel": 3}
PURE = {"vocab_size": VOCAB, "hidden_size": D, "num_hidden_layers": BLOCKS, "expand": 2, **STATE}
MAMBA = {"vocab": VOCAB, "d_model": D, "norm": "rms", "decoder": blocks("mamba")}
MAMBA2 = {"kind": "mamba2", "inner": 2 * D, "heads": 8, "state": 6, "groups": 2, "conv": 3}

CASES = [
    Case(
        "MambaForCausalLM",
        {**PURE, "use_bias": True, "use_conv_bias": False, "time_step_rank": 5},
        {
            **MAMBA,
            "mamba": {"state": 6, "conv": 3, "dt_rank": 5, "bias": True, "conv_bias": False},
            "head": "tied",
        },
    ),
    Case(
        "FalconMambaForCausalLM",
        PURE,
        {**MAMBA, "mamba": {"state": 6, "conv": 3, "norms": "weightless"}, "head": "tied"},
    ),
    Case(
        "Mamba2ForCausalLM",
        {**PURE, "num_heads": 8, "head_dim": 12, "n_groups": 2, "tie_word_embeddings": False},
        {**MAMBA, "mamba": MAMBA2},
    ),
    Case(
        "JambaForCausalLM",
        hf(
            num_hidden_layers=8,
            num_experts=EXPERTS,
            num_experts_per_tok=TOP,
            mamba_d_state=6,
            mamba_d_conv=3,
            mamba_dt_rank=5,
        ),
        usual(
            position="none",
            moe=MOE,
            mamba={"state": 6, "conv": 3, "dt_rank": 5, "norms": True},
            decoder=blocks(
                *("mamba ffn", "mamba moe", "mamba ffn", "mamba moe"),
                *("attention ffn", "mamba moe", "mamba ffn", "mamba moe"),
                number=8,
            ),
        ),
        ("experts",),
    ),
    Case(
        "BambaForCausalLM",
        hf(
            attn_layer_indices=[1],
            mamba_n_heads=8,
            mamba_d_head=12,
            mamba_n_groups=2,
            mamba_d_state=6,
            mamba_d_conv=3,
        ),
        usual(mamba=MAMBA2, decoder={"pattern": ["mamba ffn", "attention ffn", "2 × mamba ffn"]}),
    ),
    Case(
        "NemotronHForCausalLM",
        {
            **{name: value for name, value in hf().items() if name != "num_hidden_layers"},
            "layers_block_type": ["mamba", "moe", "attention", "mlp"],
            "head_dim": 8,
            "mamba_num_heads": 8,
            "mamba_head_dim": 12,
            "n_groups": 2,
            "ssm_state_size": 6,
            "conv_kernel": 3,
            **ROUTED,
            "moe_shared_expert_intermediate_size": SHARED,
            "moe_latent_size": 24,
        },
        usual(
            position="none",
            ffn={"width": FFN, "act": "relu2"},
            moe={**NARROW, "gated": False, "act": "relu2", "shared": SHARED, "latent": 24},
            mamba=MAMBA2,
            decoder={"pattern": ["mamba", "moe", "attention", "ffn"]},
        ),
    ),
    Case(
        "RecurrentGemmaForCausalLM",
        {
            "vocab_size": VOCAB,
            "hidden_size": D,
            "num_attention_heads": HEADS,
            "num_key_value_heads": KV,
            "intermediate_size": 2 * FFN,
            "num_hidden_layers": 5,
            "lru_width": 60,
            "conv1d_width": 3,
        },
        usual(
            attention={"bias": ["o"], "window": 2048},
            ffn={**gated(act="gelu_tanh"), "bias": True},
            rglru={"width": 60, "heads": HEADS, "conv": 3},
            decoder=blocks("2 × rglru ffn", "attention ffn", number=5),
            head="tied",
        ),
    ),
    Case(
        "Qwen3NextForCausalLM",
        hf(
            **NUMBERED,
            shared_expert_intermediate_size=SHARED,
            head_dim=16,
            linear_num_key_heads=2,
            linear_num_value_heads=4,
            linear_key_head_dim=8,
            linear_value_head_dim=10,
        ),
        usual(
            head_dim=16,
            ffn=None,
            moe={**NARROW, "shared": SHARED, "shared_gate": True},
            attention={"qk_norm": "head", "gate": True},
            delta={"heads": 2, "v_heads": 4, "head_dim": 8, "v_dim": 10},
            decoder=blocks("3 × delta moe", "attention moe"),
        ),
        ("experts",),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_hybrid_has_the_tensors_of_its_class(case: Case) -> None:
    """Every tensor by shape and number, not only their sum."""
    check(case)
