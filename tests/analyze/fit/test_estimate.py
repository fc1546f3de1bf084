"""What changes need together, from made-up bytes of what each does alone."""

from __future__ import annotations

import pytest

from archcalc import load
from archcalc.analyze.fit.change import Change
from archcalc.analyze.fit.estimate import Estimate
from archcalc.analyze.fit.request import request_of
from archcalc.run.device import group
from archcalc.run.options import Options

FEWER, NARROWER = (Change(name, 0, "") for name in ("fewer", "narrower"))


def estimate(base: dict[str, int], fewer: dict[str, int], narrower: dict[str, int], safe: int) -> Estimate:
    """One phase alone, in which an allocator takes nothing."""
    made = Estimate(request_of(load("gpt2"), Options.of("fit", {})), group("h100").first)
    vars(made).update(base={"states": base}, reserve=1.0)
    vars(made)["alone"] = {id(FEWER): ({"states": fewer}, safe), id(NARROWER): ({"states": narrower}, safe)}
    return made


@pytest.mark.parametrize(("safe", "enough"), [(100 // 2 + 60 // 3 - 1, False), (100 // 2 + 60 // 3, True)])
def test_each_part_shrinks_by_what_every_change_takes_of_it(safe: int, enough: bool) -> None:
    """Half of the weights by one, a third of the activations by the other."""
    base = {"weights": 100, "activations": 60}
    found = estimate(base, {"weights": 100, "activations": 20}, {"weights": 50, "activations": 60}, safe)
    assert found.is_enough([FEWER, NARROWER]) is enough


@pytest.mark.parametrize(("safe", "enough"), [(100 // 4 - 1, False), (100 // 4, True)])
def test_two_changes_of_one_part_multiply(safe: int, enough: bool) -> None:
    found = estimate({"weights": 100}, {"weights": 50}, {"weights": 50}, safe)
    assert found.is_enough([FEWER, NARROWER]) is enough


@pytest.mark.parametrize(("safe", "enough"), [(100 + 7 - 1, False), (100 + 7, True)])
def test_a_part_that_was_not_there_comes_on_top(safe: int, enough: bool) -> None:
    found = estimate({"weights": 100}, {"weights": 100, "temporary": 7}, {"weights": 100, "temporary": 3}, safe)
    assert found.is_enough([FEWER, NARROWER]) is enough


def test_a_change_without_an_effect_is_not_known() -> None:
    found = estimate({"weights": 100}, {"weights": 100}, {"weights": 50}, 100)
    assert not found.knows(FEWER)
    assert found.knows(NARROWER)
