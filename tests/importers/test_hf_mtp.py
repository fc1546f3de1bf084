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
        {**MIMO, "model_type": "minimax_m2", "num_mtp_modules": 3},  # what its blocks are like, nobody has said
        {**MIMO, "architectures": ["MiMoModel"]},
        {"model_type": "qwen3_5_text", "num_hidden_layers": 5, "mtp_num_hidden_layers": 1},  # the last is a delta net
    ],
    ids=["minimax_m2", "bare", "delta"],
)
def test_where_they_are_not_known_they_are_named_alone(said: dict[str, Any]) -> None:
    (left_out,) = archcalc.load(said).scope.left_out
    assert left_out.part.startswith("multi-token prediction") and left_out.parameters is None
