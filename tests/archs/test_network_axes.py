"""Branches whose sizes differ along an axis: spread over each other, or side by side; and pieces of an axis."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError


def net(*layers: Any, sample: Any = "8 × 6 × 5") -> archcalc.Model:
    """Behind a layer that has a gradient."""
    return archcalc.load({"input": sample, "layers": ["scale", *layers], "loss": "none"})


def last_shape(model: archcalc.Model) -> tuple[int, ...]:
    return tuple(model.shapes(batch=2).rows[-1].shape)


ROW = [{"pool": "average", "to": [1, 5]}]
COLUMN = [{"pool": "average", "to": [6, 1]}]
GATE = [{"conv": 1, "kernel": 1, "act": "sigmoid"}]
SEVERAL = {
    "a gate for each place": (net({"multiply": ["input", GATE]}), (2, 8, 6, 5)),
    "a factor for all": (net({"multiply": [[{"parameter": "1 × 1 × 1"}], "input"]}), (2, 8, 6, 5)),
    "rows and columns": (net({"add": [ROW, COLUMN]}), (2, 8, 6, 5)),
    "subtracted from all": (net({"subtract": ["input", [{"pool": "average", "to": 1}]]}), (2, 8, 6, 5)),
    "features of a vector": (net({"multiply": ["input", [{"linear": 1}]]}, sample=7), (2, 7)),
    "above each other": (net({"concat": ["input", ROW], "along": "height"}), (2, 8, 7, 5)),
    "beside each other": (net({"concat": [COLUMN, "input"], "along": "width"}), (2, 8, 6, 6)),
    "a token in front": (
        net("sequence", {"concat": [[{"parameter": "1 × 8"}], "input"], "along": "positions"}),
        (2, 1 + 6 * 5, 8),
    ),
    "a vector behind": (
        net(
            {"sequence": True, "name": "all"},
            {"pool": "average", "to": 1},
            "flatten",
            {"linear": 8, "name": "one"},
            {"concat": ["all", "one"], "along": "positions"},
        ),
        (2, 6 * 5 + 1, 8),
    ),
    "the first position": (net("sequence", {"slice": [0, 1], "along": "positions"}, "flatten"), (2, 8)),
    "some rows": (net({"slice": [2, 5], "along": "height"}, {"conv": 4, "kernel": 3}), (2, 4, 1, 3)),
}


@pytest.mark.parametrize(("model", "shape"), SEVERAL.values(), ids=SEVERAL)
def test_the_shape_that_comes_out(model: archcalc.Model, shape: tuple[int, ...]) -> None:
    assert last_shape(model) == shape


@pytest.mark.parametrize("name", SEVERAL)
def test_pytorch_keeps_the_same_bytes(name: str) -> None:
    pytest.importorskip("torch")
    model, _ = SEVERAL[name]
    assert model.verify(batch=2).ok


def test_a_branch_of_one_attention_layer_begins_at_an_earlier_layer() -> None:
    pytest.importorskip("torch")
    model = net(
        {"sequence": True, "name": "all"},
        {"parameter": "3 × 8", "name": "few"},
        {"attention": 2, "memory": "all", "name": "seen"},
        {"add": ["all", ["all", {"attention": 2, "memory": "seen"}]]},
    )
    assert model.verify(batch=2).ok


@pytest.mark.parametrize(
    ("layer", "fact"),
    [
        ({"add": ["input", [{"pool": "average", "to": [3, 5]}]]}, "which cannot be joined by add"),
        ({"concat": ["input", ROW], "along": "width"}, "whose other sizes differ"),
        ({"concat": ["input", ROW], "along": "positions"}, "has no positions"),
        ({"slice": [0, 7], "along": "height"}, "expected two places from 0 to 6"),
    ],
)
def test_sizes_that_do_not_go_together(layer: Any, fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        net(layer)
