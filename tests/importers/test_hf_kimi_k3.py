"""Kimi K3, which transformers does not have: its layers as vLLM builds them, by products of sizes."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError

D, HEADS, WIDE = 64, 4, 16  # of the model; heads and their width
TEXT: dict[str, Any] = {
    "model_type": "kimi_linear",
    "hidden_size": D,
    "num_attention_heads": HEADS,
    "num_hidden_layers": 3,
    "vocab_size": 512,
    "intermediate_size": 96,
    "moe_intermediate_size": 24,
    "num_experts": 8,
    "num_experts_per_token": 2,
    "num_shared_experts": 2,
    "first_k_dense_replace": 1,
    "q_lora_rank": 40,
    "kv_lora_rank": 32,
    "qk_nope_head_dim": 16,
    "qk_rope_head_dim": 8,
    "v_head_dim": 16,
    "hidden_act": "situ",
    "tie_word_embeddings": False,
    "linear_attn_config": {
        "full_attn_layers": [3],
        "kda_layers": [1, 2],
        "head_dim": WIDE,
        "num_heads": HEADS,
        "short_conv_kernel_size": 4,
    },
}
KDA = 4 * D * D + 3 * D * 4 + D * HEADS + D + HEADS + WIDE  # q, k, v, out; convolutions; rates; biases, decays, norm
NARROW = D * WIDE + WIDE * D  # decays, or a gate, by way of a vector as wide as a head
MLA = D * 40 + 40 + 40 * HEADS * 24 + D * (32 + 8) + 32 + 32 * HEADS * (16 + 16) + D * D
DENSE, EXPERTS = 3 * D * 96, 8 * D + 3 * D * 48  # the dense block; the router and the shared experts
NORMS = 2 * D


def total(**more: Any) -> int:
    said = {**TEXT, **more, "linear_attn_config": {**TEXT["linear_attn_config"], **more.get("linear_attn_config", {})}}
    return int(archcalc.load(said).params().total)


USUAL = 2 * 512 * D + D + 3 * NORMS + 2 * (KDA + 2 * NARROW) + MLA + DENSE + 2 * (EXPERTS + 8 * 3 * D * 24)


def test_without_its_own_fields_it_is_kimi_linear() -> None:
    assert total() == USUAL


@pytest.mark.parametrize(
    ("more", "less_or_more"),
    [
        ({"mla_use_output_gate": True}, D * HEADS * 16),
        ({"linear_attn_config": {"use_full_rank_gate": True}}, 2 * (D * D - NARROW)),
        ({"attn_res_block_size": 2}, (2 * 3 + 1) * 2 * D),  # of two parts in each block, and of the output
        ({"routed_expert_hidden_size": 32}, 2 * (2 * D * 32 + 8 * 3 * 24 * (32 - D))),
        ({"routed_expert_hidden_size": 32, "latent_moe_use_norm": True}, 2 * (2 * D * 32 + 8 * 3 * 24 * (32 - D) + 32)),
    ],
)
def test_each_of_its_own_fields_counts(more: dict[str, Any], less_or_more: int) -> None:
    assert total(**more) == USUAL + less_or_more


VISION = {"vt_hidden_size": 32, "vt_num_attention_heads": 3, "qkv_hidden_size": 48, "vt_intermediate_size": 40}
TOWER: dict[str, Any] = {
    **VISION,
    "vt_num_hidden_layers": 2,
    "patch_size": 14,
    "init_pos_emb_height": 6,
    "init_pos_emb_width": 5,
    **dict.fromkeys(("attn_bias", "linear_bias", "patch_embed_proj_bias"), False),
    "norm_type": "rmsnorm",
    "mm_projector_type": "patchmergerv2",
}
WHOLE = {"model_type": "kimi_k3", "architectures": ["KimiK3ForConditionalGeneration"], "text_config": TEXT}


def test_its_tower_has_wide_heads_and_no_biases() -> None:
    block = 4 * 32 * 48 + 2 * 32 * 40 + 2 * 32
    tower = 3 * 14 * 14 * 32 + 6 * 5 * 32 + 2 * block + 32
    merger = 128 * 128 + 128 * D + D
    found = archcalc.load({**WHOLE, "vision_config": TOWER})
    assert int(found.params().total) == USUAL + tower + merger


def test_heads_that_do_not_add_up_are_named_as_its_config_has_them() -> None:
    with pytest.raises(InputError, match="vt_num_attention_heads: 3 is not counted"):
        archcalc.load({**WHOLE, "vision_config": {**TOWER, "qkv_hidden_size": 32}})


def test_its_work_is_refused_while_its_activation_is_unknown() -> None:
    model = archcalc.load({**WHOLE, "vision_config": TOWER})
    with pytest.raises(InputError, match="does not know this activation"):
        model.flops()
    assert model.memory(mode="prefill").record()["rows"]


@pytest.mark.parametrize("said", [{"delta": {"squeeze": "decays"}}, {"moe": {"latent": 12, "latent_norm": True}}])
def test_the_reference_has_its_gates_and_its_norm(said: dict[str, Any]) -> None:
    parts = {
        "delta": {"kind": "kda", "heads": 2, "head_dim": 8, **said.get("delta", {})},
        "moe": {"experts": 4, "top": 2, "width": 8, **said.get("moe", {})},
    }
    spec = {"vocab": 50, "d_model": 16, "heads": 2, "norm": "rms", "bias": False, "decoder": {"pattern": ["delta moe"]}}
    report = archcalc.load({**spec, **parts}).verify(seq=64)
    assert report.rows and all(row.equal for row in report.rows), report
