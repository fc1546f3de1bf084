"""Numbers of layers as runs: what lists of them give, at a cost that does not follow how many there are."""

from __future__ import annotations

from itertools import product

import pytest

import archcalc
from archcalc.core.errors import InputError
from archcalc.storage.format import Rule, alike
from archcalc.storage.layer_numbers import LayerNumbers

SIZES = (1, 2, 3, 7)


@pytest.mark.parametrize("run,before,times,more", list(product(SIZES, (0, 1, 5), SIZES, (0, 1, 4))))
def test_runs_are_lists(run: int, before: int, times: int, more: int) -> None:
    period = before + run + more
    found = LayerNumbers.up_to(run).shifted(before).repeated(times, period)
    listed = [turn * period + before + number for turn in range(times) for number in range(run)]
    assert sorted(found) == listed
    assert (found.number, found.end) == (len(listed), listed[-1] + 1)
    assert sorted(found.between(3, 11)) == [number for number in listed if 3 <= number < 11]
    for step, remainder in ((3, 0), (3, 2), (4, 1)):
        assert sorted(found.every(step, remainder)) == [number for number in listed if number % step == remainder]
    assert [number in found for number in range(9)] == [number in listed for number in range(9)]


@pytest.mark.parametrize("depth", [1, 8, 31, 32, 61, 80])
@pytest.mark.parametrize("where", ["", "more", "middle", "first 2", "first 1/8"])
def test_groups_of_layers_are_not_told_apart_by_a_rule(depth: int, where: str) -> None:
    rule = Rule(("ffn.down",), where)
    groups = list(alike(LayerNumbers.up_to(depth), [rule], depth))
    assert sorted(number for group in groups for number in group) == list(range(depth))
    for group in groups:
        assert len({rule._in(layer, depth) for layer in group}) == 1


def test_a_mixture_costs_the_same_for_any_number_of_layers() -> None:
    """The rules are asked as often for 2.4 · 10¹³ layers as for 24."""
    asked = [_asked(layers) for layers in (24, 24_000, 24 * 10**12)]
    assert max(asked) <= asked[0] + 24


def _asked(layers: int) -> int:
    rule = Rule(("ffn.down",), "more")
    return sum(1 for _ in alike(LayerNumbers.up_to(layers), [rule] * 8, layers))


def test_a_mixture_of_many_layers_grows_with_them() -> None:
    """A stack of 8 · n layers has 2 n in the outer eighths and 2 n of the middle in more bits, whatever n is."""
    sizes = [_weights(8 * layers) for layers in (3, 6, 3 * 10**9)]
    each = (sizes[1] - sizes[0]) // 3
    assert sizes[2] - sizes[0] == (3 * 10**9 - 3) * each


def _weights(layers: int) -> int:
    model = archcalc.load("llama-3-8b", set=[f"decoder={layers}"])
    return int(model.memory(weights="q4_k_m").parts["weights"])


def test_two_kinds_of_layers_without_end_are_refused() -> None:
    with pytest.raises(InputError, match="runs of unequal layers"):
        LayerNumbers.up_to(10**6).repeated(10**6, 10**7)
