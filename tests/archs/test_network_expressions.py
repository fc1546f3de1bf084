"""Expressions in networks: what is worked out, and what is refused instead of being taken for something else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

import archcalc
from archcalc.archs.network.expression import LONGEST, Mistake, condition, evaluated
from archcalc.core.errors import InputError

SCOPE = {"channels": 6, "expand": 4, "kind": "max", "wide": True, "rate": 0.5, "sizes": [1, 2]}


@pytest.mark.parametrize(
    "text,value",
    [
        ("2 * channels + 1", 13),
        ("channels // 4", 1),
        ("channels / 3", 2),
        ("-channels + 8", 2),
        ("max(8, channels, 2)", 8),
        ("min(channels, expand)", 4),
        ("same", "same"),
        ("sizes", [1, 2]),
    ],
)
def test_sizes_are_worked_out(text: str, value: Any) -> None:
    assert evaluated(text, SCOPE) == value


@pytest.mark.parametrize(
    "text,value",
    [
        ("expand > 1", True),
        ("1 < expand < 4", False),
        ("wide", True),
        ("not wide or expand == 4", True),
        ("wide and expand != 4", False),
        ("kind == 'max'", True),
        ("rate >= 0.25", True),
        ("true", True),
        (False, False),
    ],
)
def test_conditions_are_true_or_false(text: Any, value: bool) -> None:
    assert condition(text, SCOPE) is value


@pytest.mark.parametrize(
    "text", ["9 ** 9 ** 9", "channels % 4", "abs(channels)", "~channels", "+channels", "max.real + 1"]
)
def test_what_is_not_in_the_language_is_refused_where_a_size_is_wanted(text: str) -> None:
    with pytest.raises(InputError, match=r"not understood|whole number"):
        load({"conv": text, "kernel": 1})


@pytest.mark.parametrize("function", ["min", "max"])
@pytest.mark.parametrize(
    "arguments", ["", "8", "*sizes", "1, 2, key=3", "**sizes", "1, 2, default=3", "1, 'a'", "1, wide"]
)
def test_functions_take_numbers_and_nothing_else(function: str, arguments: str) -> None:
    with pytest.raises(Mistake):
        condition(f"{function}({arguments}) > 0", SCOPE)


@pytest.mark.parametrize("operator", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("pair", [("kind", "expand"), ("expand", "wide"), ("sizes", "expand"), ("kind", "wide")])
def test_unlike_things_are_not_compared(operator: str, pair: tuple[str, str]) -> None:
    with pytest.raises(Mistake, match="compares"):
        condition(f"{pair[0]} {operator} {pair[1]}", SCOPE)


@pytest.mark.parametrize(
    "said", ["expand", "kind", "expand + 1", "expand and wide", "not expand", "", 1, 0, None, [], {}]
)
def test_no_number_and_no_word_passes_for_a_condition(said: Any) -> None:
    with pytest.raises(Mistake):
        condition(said, SCOPE)


@pytest.mark.parametrize(
    "text", ["channels / 4", "channels / 0", "channels // 0", "channels * rate", "kind + 1", "wide * 2"]
)
def test_only_whole_numbers_are_worked_out(text: str) -> None:
    with pytest.raises(Mistake, match=r"whole number|divided by 0"):
        evaluated(text, SCOPE)


@pytest.mark.parametrize(
    "text", ["1 +" * LONGEST + "1", "(" * 90 + ")" * 90, "-" * 150 + "1 -", "2or 3", "lambda: 3 > 2"]
)
def test_what_cannot_be_read_is_no_expression(text: str) -> None:
    with pytest.raises(Mistake):
        condition(text, SCOPE)


def load(*layers: Any, **fields: Any) -> archcalc.Model:
    return archcalc.load({"family": "network", "input": "6 × 8 × 8", "layers": list(layers), **fields})


def block(parameters: dict[str, Any], *layers: Any, call: dict[str, Any] | None = None) -> archcalc.Model:
    return load({"block": "b", **(call or {})}, blocks={"b": {"parameters": parameters, "layers": list(layers)}})


@pytest.mark.parametrize("when", ["expnd", "expnd > 1", "not expnd", "true and expnd"])
def test_a_misspelled_name_is_refused_with_the_nearest(when: str) -> None:
    layer = {"conv": "expand", "kernel": 1, "when": when}
    with pytest.raises(InputError, match="there is no 'expnd' here; did you mean expand"):
        block({"expand": 6}, layer)


def test_a_misspelled_name_in_the_place_of_a_size_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean channels"):
        load({"conv": "chanels", "kernel": 1})


def test_numbers_that_grow_from_parameter_to_parameter_are_refused() -> None:
    """Each the square of the one before: without a bound the last would have 10¹⁵ digits."""
    names = [f"w{number}" for number in range(50)]
    squares = {name: f"{before} * {before}" for before, name in pairwise(names)}
    with pytest.raises(InputError, match="which no size is"):
        block({names[0]: 10, **squares}, {"conv": names[-1], "kernel": 1})


def test_words_of_a_field_are_not_taken_for_names() -> None:
    """`channels` is a size of what comes in, and what a layer norm may go over."""
    channels, whole = (load({"norm": "layer", "over": over}).params().total for over in ("channels", "all"))
    assert (channels, whole) == (2 * 6, 2 * 6 * 8 * 8)


def test_sizes_are_worked_out_in_lists_and_in_fields_within_fields() -> None:
    padded = load({"conv": 2, "kernel": 3, "padding": [["channels // 6", 0], [1, "1 * 1"]]})
    assert padded.shapes().rows[-1].shape[-2:] == (8 + 1 - 2, 8)
    normed = load({"conv": "2 * channels", "kernel": 1, "norm": {"kind": "group", "groups": "channels / 2"}})
    assert normed.params().total == (6 * 12 + 12) + 2 * 12


@pytest.mark.parametrize(
    "layer",
    [
        {"pad": -1},
        {"pad": [[1, 2, 3], [0, 1]]},
        {"pad": [["a", 1], [0, 1]]},
        {"pad": "same"},
        {"conv": 4, "kernel": 3, "padding": -1},
        {"conv": "channels - 6", "kernel": 1},
        {"conv": "channels - 7", "kernel": 1},
        {"conv": 4.0, "kernel": 1},
        {"conv": True, "kernel": 1},
        {"conv": 4, "kernel": 1, "groups": "depthwse"},
        {"slice": [True, 4]},
        {"slice": [0, 7]},
        {"shuffle": 0},
        {"pool": "max", "to": 0},
        {"relu": None},
        {"conv": 4, "kernel": 1, "repeat": 0},
        {"conv": 4, "kernel": 1, "repeat": None},
        {"conv": 4, "kernel": 1, "repeat": 1.5},
        {"conv": 4, "kernel": 1, "first": 3},
        {"conv": 4, "kernel": 1, "when": None},
        {"block": ["a"]},
        {"block": {"a": 1}},
        {"block": None},
        {"add": ["input"]},
        {"concat": ["input", "flatten"]},
        {"add": ["input", [{"pool": "max", "to": 1}, "flatten"]], "crop": True},
    ],
)
def test_what_is_no_size_and_no_layer_is_refused(layer: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        load(layer)
