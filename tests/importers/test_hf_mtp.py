"""Blocks for multi-token prediction, which checkpoints hold and transformers does not build: with and without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc

if TYPE_CHECKING:
    from conftest import Run

MIMO = {"model_type": "mimo", "num_hidden_layers": 36, "hidden_size": 4096, "num_attention_heads": 32} | {
    "num_key_value_heads": 8,
    "intermediate_size": 11008,
    "vocab_size": 151680,
    "num_nextn_predict_layers": 1,
}
CORRECTIONS = (45 + 1) * 128  # of GLM-4.5-Air's routers: buffers, which the index of its files counts
INDEXED: dict[str, tuple[Any, int, bool]] = {  # numbers in the index of the weights; whether it holds the tables twice
    "DeepSeek-V3": ("deepseek-v3", 684_489_830_400, True),
    "GLM-4.5-Air": ("glm-4.5-air", 110_468_824_832 - CORRECTIONS, True),
    "Qwen3-Next": ("qwen3-next-80b-a3b", 81_324_862_720, False),
    "MiMo-7B": (MIMO, 7_833_409_536, False),
}


@pytest.mark.parametrize("name", INDEXED)
def test_with_them_it_is_what_the_checkpoint_holds(name: str) -> None:
    source, indexed, holds_tables = INDEXED[name]
    model = archcalc.load(source)
    (left_out,) = model.scope.left_out
    assert left_out.parameters and left_out.copies
    copies = left_out.copies if holds_tables else 0
    assert model.params().total + left_out.parameters + copies == indexed


def test_params_says_both_and_knows_the_number_that_is_published(run: Run) -> None:
    shown = run("params", "deepseek-v3", "--expect", "684.5B").out
    assert "671.0 B parameters" in shown and "684,489,830,400" in shown
    assert "but with MTP and its own tables" in " ".join(shown.split())


def test_a_smaller_model_has_smaller_ones() -> None:
    """They follow from the spec: 2·d² for the projection, a block, and norms of hidden states, tokens and output."""
    small = archcalc.load(MIMO).changed("d_model=64", "heads=4", "kv_heads=2", "ffn.width=96", "head_dim=16")
    block = 64 * (64 + 2 * 32) + (64 + 2 * 32) + 64 * 64 + 3 * 64 * 96 + 2 * 64
    (left_out,) = small.scope.left_out
    assert left_out.parameters == 2 * 64 * 64 + 3 * 64 + block
    assert left_out.copies == 2 * 151680 * 64


def test_counted_they_are_no_longer_left_out() -> None:
    model = archcalc.load("glm-4.5-air")
    (left_out,) = model.scope.left_out
    counted = model.changed("head.mtp.blocks=1")
    assert counted.params().total == model.params().total + (left_out.parameters or 0)
    assert not counted.scope.left_out


@pytest.mark.parametrize(
    "said",
    [
        {**MIMO, "model_type": "apertus", "num_mtp_modules": 3},  # what its blocks are like, nobody has said
        {"model_type": "qwen3_5_text", "num_hidden_layers": 4, "mtp_num_hidden_layers": 2},  # with one projection
        {**MIMO, "architectures": ["MiMoModel"]},
        {"model_type": "qwen3_5_text", "num_hidden_layers": 3, "mtp_num_hidden_layers": 1},  # all are delta nets
    ],
    ids=["apertus", "once", "bare", "delta"],
)
def test_where_they_are_not_known_they_are_named_alone(said: dict[str, Any]) -> None:
    (left_out,) = archcalc.load(said).scope.left_out
    assert left_out.part.startswith("multi-token prediction") and left_out.parameters is None


def test_files_that_hold_none_are_whole() -> None:
    """MiniMax names modules in its config, and has none in its files."""
    model = archcalc.load({**MIMO, "model_type": "minimax_m2", "num_mtp_modules": 3, "num_nextn_predict_layers": 0})
    assert not model.scope.left_out
    assert any("hold none" in one["text"] for one in model.params().record()["assumptions"])


SIZES: dict[str, Any] = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}
SMALL: dict[str, Any] = {**SIZES, "vocab_size": 512, "intermediate_size": 96, "moe_intermediate_size": 24}
AHEAD = 2 * 64 * 64 + 2 * 64  # the projection, norms of hidden states and tokens
NORM = 64
GROUPED = 64 * 16 * (4 + 2 * 2 + 4)  # queries, keys and values, output
DENSE = 3 * 64 * 96
ROUTED = 3 * 64 * 24 * 8 + 64 * 8  # eight experts and their router
GATED = GROUPED + 64 * 64 + 2 * 16  # an output gate beside queries, norms of queries and keys
EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "shared_expert_intermediate_size": 40}
CASES: dict[str, tuple[dict[str, Any], int]] = {  # by products of sizes, as the engines build their layers
    "qwen3_5_text": ({"num_hidden_layers": 5, "mtp_num_hidden_layers": 1}, GATED + DENSE + 3 * NORM),
    "qwen3_5_moe_text": (
        {"num_hidden_layers": 5, "mtp_num_hidden_layers": 1, **EXPERTS},
        GATED + ROUTED + 3 * 64 * 40 + 64 + 3 * NORM,
    ),
    "ernie4_5_moe": (
        {"num_hidden_layers": 3, "num_nextn_predict_layers": 1, "moe_num_experts": 8, "moe_k": 2},
        GROUPED + DENSE + 2 * NORM,
    ),
    "mimo_v2_flash": (
        {"num_hidden_layers": 3, "num_nextn_predict_layers": 3, "n_routed_experts": 8, "num_experts_per_tok": 2}
        | {"v_head_dim": 8},
        3 * (64 * 4 * 16 + 64 * 4 * 16 + 64 * 4 * 8 + 64 * 4 * 8 + 4 + DENSE + 3 * NORM) + 2 * AHEAD,
    ),
    "nemotron_h": (
        {"hybrid_override_pattern": "M*E-", "num_nextn_predict_layers": 1, "mtp_hybrid_override_pattern": "*-"},
        GROUPED + 2 * 64 * 96 + 3 * NORM,
    ),
    "exaone4": ({"num_hidden_layers": 4, "num_nextn_predict_layers": 1}, GROUPED + 2 * 16 + DENSE + 3 * NORM),
}


@pytest.mark.parametrize("model_type", CASES)
def test_they_have_what_engines_build(model_type: str) -> None:
    more, inside = CASES[model_type]
    (left_out,) = archcalc.load({"model_type": model_type, **SMALL, **more}).scope.left_out
    assert left_out.parameters == AHEAD + inside


def test_those_of_deepseek_v4_have_streams_of_their_own() -> None:
    """A block more, and of their own two projections, three norms, and the weights that join four streams."""
    said = {"model_type": "deepseek_v4", **SIZES, "vocab_size": 512, "moe_intermediate_size": 24, "hc_mult": 4}
    said |= {"n_routed_experts": 8, "num_experts_per_tok": 2, "q_lora_rank": 32, "o_lora_rank": 16, "o_groups": 2}
    said |= {"num_hash_layers": 0, "sliding_window": 8, "qk_rope_head_dim": 8, "index_n_heads": 2, "index_head_dim": 8}
    shorter, longer = (
        archcalc.load({**said, "num_hidden_layers": number, "compress_ratios": [128] + [0] * (number - 1)}).params()
        for number in (2, 3)
    )
    found = archcalc.load(
        {**said, "num_hidden_layers": 2, "compress_ratios": [128, 0, 0], "num_nextn_predict_layers": 1}
    )
    (left_out,) = found.scope.left_out
    joining = 4 * (4 * 64) + 4 + 1
    assert left_out.parameters == int(longer.total) - int(shorter.total) + AHEAD + NORM + joining


def test_of_a_model_that_sees_they_are_the_texts() -> None:
    seen = {"depth": 2, "num_heads": 2, "hidden_size": 32, "intermediate_size": 40, "out_hidden_size": 64}
    text = {"model_type": "qwen3_5_text", **SMALL, "num_hidden_layers": 4, "mtp_num_hidden_layers": 1}
    said = {"model_type": "qwen3_5", "text_config": text, "vision_config": {**seen, "patch_size": 8}}
    (left_out,) = archcalc.load(said).scope.left_out
    assert left_out.parameters == AHEAD + CASES["qwen3_5_text"][1]
