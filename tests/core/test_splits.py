"""Dims declare how tensor parallelism splits them, whatever their size was worked out from."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc.layers.ffn
from archcalc import load
from archcalc.core.assumptions import Topic
from archcalc.core.count import Count
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.mesh import Plan
from archcalc.core.positions import Positions
from archcalc.core.splits import EVENLY, LAST_SHORTER, OR_COPIED, Piece, Remainder, Split, joined
from archcalc.layers.dims import heads_of

MAMBA_2 = joined(Piece(8, 64), *2 * [Piece(1, 64, Remainder.ONE_COPIED)])  # 512 channels, B and C of one group
SMALL = {"vocab": 96, "d_model": 32, "heads": 4, "ffn": 64, "norm": "rms"}


@pytest.mark.parametrize("size", [Count(640), Count(512) + 128, 5 * Count(128), Count.named("inner", 640)])
def test_another_working_of_the_same_size_splits_the_same(size: Count) -> None:
    """Mamba-2 on 4 GPUs: a quarter of 512 channels, and all of B and C."""
    assert Plan(tp=4).part(Dim("inner_b_c", size, split=MAMBA_2)) == 512 // 4 + 128


@pytest.mark.parametrize(
    ("split", "size", "gpus", "part", "allowed", "disjoint"),
    [
        (EVENLY, 8, 4, 2, True, True),
        (EVENLY, 8, 3, 3, False, False),
        (OR_COPIED, 2, 8, 1, True, False),
        (OR_COPIED, 6, 4, 2, False, False),
        (OR_COPIED, 3, 8, 1, False, False),
        (LAST_SHORTER, 10, 4, 3, True, True),
        (MAMBA_2, 640, 8, 64 + 128, True, False),
        (MAMBA_2, 640, 16, 64 + 128, False, False),
        (Split((Piece(2, 5, Remainder.ONE_COPIED),)), 10, 4, 5, False, False),
    ],
)
def test_what_one_gpu_holds(split: Split, size: int, gpus: int, part: int, allowed: bool, disjoint: bool) -> None:
    assert split.part(size, gpus) == part
    assert split.allows(size, gpus) == allowed
    assert split.is_disjoint(size, gpus) == disjoint


def test_pieces_are_as_large_as_their_dim() -> None:
    with pytest.raises(ValueError, match="inner_b_c has 639 elements"):
        Dim.of("inner_b_c", 639, split=MAMBA_2)


def test_a_dim_of_another_ones_size_follows_it() -> None:
    seq = Dim.of("seq", 8, split=EVENLY, positions=Positions.SEQUENCE)
    past = Dim.of("kv_seq", seq.size, positions=Positions.PAST)
    assert (past.split, past.positions, past.size.at(seq=9)) == (None, Positions.PAST, 9)


def test_one_name_with_two_declarations_is_a_mistake() -> None:
    declared, silent = Tensor(axes(heads_of(4))), Tensor(axes(Dim.of("heads", 4)))
    with pytest.raises(ValueError, match="two declarations in an op"):
        Module("model").record("add", declared, silent)


def test_a_layer_that_declares_no_split_is_replicated_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archcalc.layers.ffn, "ffn_of", lambda width: Dim.of("made_up", width))
    report = load("gpt2").memory(tp=2)
    assert report.undivided[0].part == "decoder.blocks.ffn"
    said = [str(each) for each in report.assumptions if each.topic is Topic.PARALLELISM]
    assert any("decoder.blocks.ffn" in words for words in said if words.startswith("--tp 2 replicates"))


MIXERS: dict[str, dict[str, Any]] = {
    "rglru": {"width": 48, "heads": 4, "conv": 4},
    "conv": {"kind": "gated", "kernel": 3},
}


@pytest.mark.parametrize("word", MIXERS)
def test_recurrent_units_and_gated_convolutions_are_divided(word: str) -> None:
    """Everything but the bias behind the sum over GPUs, as TensorRT-LLM and vLLM divide them."""
    model = load({**SMALL, word: MIXERS[word], "decoder": {"pattern": [f"{word} ffn"]}})
    whole, quarter = (model.memory(tp=tp, overhead=0) for tp in (1, 4))
    replicated = sum(one.bytes for one in quarter.undivided if one.part.endswith(word))
    assert replicated <= 4 * 32  # the bias of the layer's output, in fp32
    assert 4 * quarter.parts["state"] == whole.parts["state"] > 0
    with pytest.raises(InputError, match="cannot be split over 3 GPUs"):
        model.memory(tp=3)


def test_keys_and_values_of_another_models_output_are_a_kv_cache() -> None:
    """As long as the sequence, so that they grow with it; a recurrent state does not."""
    cross = {"memory": 24}
    model = load({**SMALL, "cross": cross, "decoder": {"pattern": ["cross ffn"]}})
    short, long = (model.memory(seq=seq, kv_dtype="bf16").parts for seq in (16, 32))
    assert (2 * short["kv_cache"], short["state"]) == (long["kv_cache"], 0)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("mamba-130m", "mamba, which has a recurrent state"),
        ("bert-base", "dense, which tensor parallelism does not split"),
    ],
)
def test_sequence_parallelism_is_refused_for_the_true_reason(name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load(name).memory(mode="train", tp=2, sp=True)
