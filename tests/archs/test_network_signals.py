"""Earlier layers read by their names: at the beginning of a list, of a branch, of a head."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.errors import InputError

Layer = dict[str, Any]


def net(*layers: Any, sample: Any = "16 × 100", **fields: Any) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": sample, "layers": list(layers), **fields})


def gated(name: str, dilation: int) -> Layer:
    """tanh(conv) · sigmoid(conv), each sees a place and the one `dilation` places before it."""
    conv = {"conv": 16, "kernel": 2, "padding": "causal", "dilation": dilation}
    return {"multiply": [[{**conv, "act": "tanh"}], [{**conv, "act": "sigmoid"}]], "name": name}


def wavenet() -> archcalc.Model:
    """Two gated layers, each added to what comes in, and both read by a sum of their own."""
    one = {"conv": 16, "kernel": 1}
    return net(
        {**one, "name": "start"},
        gated("first", 1),
        {"add": ["start", ["input", one]]},
        gated("second", 2),
        {"add": [["first", {"conv": 32, "kernel": 1}], ["second", {"conv": 32, "kernel": 1}]]},
        heads={"sound": ["relu", {"conv": 4, "kernel": 1}], "gate": ["first", {"conv": 1, "kernel": 1}]},
        loss="none",
    )


def test_a_causal_convolution_sees_only_what_came_before() -> None:
    """As long as before, and `dilation · (kernel − 1)` zeros are all that is added."""
    rows = {row.path: row for row in net({"conv": 8, "kernel": 3, "padding": "causal", "dilation": 4}).shapes().rows}
    assert rows["conv_1"].shape == (1, 8, 100)
    assert rows["conv_1"].window.receptive_field == (4 * (3 - 1) + 1,)


def test_branches_and_heads_begin_at_earlier_layers() -> None:
    model = wavenet()
    one, pair = 16 * 16 + 16, 2 * (2 * 16 * 16 + 16)
    assert model.params().total == 2 * one + 2 * pair + 2 * (16 * 32 + 32) + (32 * 4 + 4) + (16 + 1)
    shapes = {row.path: row.shape for row in model.shapes().rows}
    assert (shapes["sound.conv_1"], shapes["gate"]) == ((1, 4, 100), (1, 1, 100))


def test_the_reference_reads_the_same_layers() -> None:
    pytest.importorskip("torch")
    assert wavenet().verify(batch=2).ok


def test_a_word_that_is_a_layer_stays_one() -> None:
    """A list that begins with `relu` begins with an activation, whatever a layer is called."""
    conv = {"conv": 16, "kernel": 1}
    model = net({**conv, "name": "relu"}, {"add": ["relu", [conv, ["relu", conv]]]})
    assert any(row.path.endswith("stage_1.relu_1") for row in model.shapes().rows)


ONE = {"conv": 16, "kernel": 1}


@pytest.mark.parametrize(
    "layers,fact",
    [
        ([{**ONE, "name": "a"}, ONE, ["a", "relu"]], "nothing reads what the layer before it gives"),
        ([{**ONE, "name": "a"}, {**ONE, "name": "b"}, ["a", "relu"]], "nothing reads what this layer gives"),
        ([{**ONE, "name": "a"}, {"layers": ["a", "relu"], "repeat": 2}], "repeated, though it reads nothing"),
        ([ONE, ["a", "relu"]], "no layer called 'a'"),
        ([{"conv": 8, "kernel": 3, "padding": "before"}], "expected a number, same, valid or causal"),
    ],
)
def test_layers_that_nothing_reads_are_named(layers: list[Any], fact: str) -> None:
    with pytest.raises(InputError) as error:
        net(*layers)
    assert fact in str(error.value)


def test_causal_padding_is_of_one_side() -> None:
    with pytest.raises(InputError, match="causal padding is for one side"):
        net({"conv": 8, "kernel": 3, "padding": "causal"}, sample="3 × 32 × 32")
