"""Text models of 2025 and 2026 whose fields have a history: older files count what newer ones do."""

from __future__ import annotations

from typing import Any

import pytest
from support.hf_truth import build, tensors_in, tensors_of

import archcalc
from archcalc.verify.hf.rows import verify_config

Said = dict[str, Any]
M3: Said = {
    "model_type": "minimax_m3_vl_text",
    "architectures": ["MiniMaxM3VLForCausalLM"],
    "vocab_size": 100,
    "hidden_size": 64,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "head_dim": 16,
    "rotary_dim": 8,
    "num_hidden_layers": 3,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "intermediate_size": 40,
    "dense_intermediate_size": 96,
    "shared_intermediate_size": 40,
    "index_head_dim": 16,
    "index_block_size": 32,
    "index_topk_blocks": 2,
    "layer_types": ["full_attention", "minimax_m3_sparse", "minimax_m3_sparse"],
    "mlp_layer_types": ["dense", "sparse", "sparse"],
}
OLDER: Said = {
    **{key: value for key, value in M3.items() if not key.startswith(("index_", "layer_types", "mlp_"))},
    "hidden_act": "swigluoai",
    "moe_layer_freq": [0, 1, 1],
    "sparse_attention_config": {"sparse_attention_freq": [0, 1, 1], "sparse_num_index_heads": 4}
    | {"sparse_index_dim": 16, "sparse_block_size": 32, "sparse_topk_blocks": 2},
}
STEP: Said = {
    "model_type": "step3p5",
    "architectures": ["Step3p7TextModel"],
    "vocab_size": 100,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_attention_groups": 2,
    "head_dim": 16,
    "num_hidden_layers": 5,
    "moe_num_experts": 4,
    "moe_top_k": 2,
    "moe_intermediate_size": 24,
    "share_expert_dims": 40,
    "intermediate_size": 96,
    "sliding_window": 8,
    "num_nextn_predict_layers": 1,
    "layer_types": ["full_attention", "sliding_attention"] * 3,
    "moe_layers_enum": "2,3,4",
    "attention_other_setting": {"num_attention_heads": 6},
    "partial_rotary_factors": [0.5, 1.0] * 3,
    "rope_theta": [1e6, 1e4] * 3,
}


@pytest.mark.parametrize("said", [M3, OLDER, STEP], ids=["minimax m3", "older minimax m3", "older step 3.5"])
def test_tensors_are_those_of_the_class(said: Said) -> None:
    assert tensors_of(archcalc.load(said)) == tensors_in(build(said))


def test_an_indexer_of_blocks_computes_what_the_class_does() -> None:
    model = archcalc.load(M3)
    report = verify_config(model, model.workload(seq=200), quick=False, progress=lambda *_: None)
    assert [row.quantity for row in report.rows if row.archcalc != row.reference] == []
    assert "forward FLOPs, block by block" in {row.quantity for row in report.rows}


def test_its_keys_are_cached_beside_those_of_attention() -> None:
    """Three layers of 4 heads of 16 for keys and for values, in fp32; two indexers have keys of 16."""
    memory = archcalc.load(M3).memory(mode="decode", context=999)
    assert memory.parts["kv_cache"] == 4 * 1000 * (3 * 2 * 4 * 16 + 2 * 16)


def test_layers_of_longcat_are_two_blocks_of_which_one_has_experts() -> None:
    said = {"model_type": "longcat_flash", "num_layers": 2}
    model = archcalc.load(said)
    assert round(int(archcalc.load({"model_type": "longcat_flash"}).params().total), -9) == 561_000_000_000
    assert model.params().active < model.params().total / 10
