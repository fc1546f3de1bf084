"""Other values of what a run leaves open, tried one at a time and two together: which of them take what was measured.

    others_near(deployment, sizes, wanted, figure)      [Other({"recompute": "full"}, 34_911_289_344), …]

What was asked for stays. What the model, the code or the device does not allow is passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.measured_run import Other
from archcalc.analyze.memory.peak import Peak, peak
from archcalc.core.errors import InputError
from archcalc.run.options import options_of
from archcalc.spec.sizes import Sizes

NEAR = 0.05  # of what was measured: no run is told apart from another that is as near
TRIED = ("recompute", "attention", "precision", "optimizer", "code")  # all of their values
IN_TRAINING = {"weights": ("nf4",), "loss_chunks": (16,)}  # usual ones
IN_INFERENCE = {"weights": ("fp32", "fp8", "int8", "int4", "q4_k_m"), "kv_dtype": ("fp8",)}
SHOWN = 3
Figure = Callable[[Peak], int]


def others_near(deployment: Deployment, sizes: Sizes, wanted: int, figure: Figure) -> list[Other]:
    """Those that take about what is wanted: such with the fewest changes, the nearest of them first."""
    counted = figure(peak(deployment, sizes))
    single = [one for each in _single(deployment) for one in _asked(deployment, sizes, each, figure)]
    found = _near(single, wanted)
    if not found:
        moving = [one.options for one in single if abs(one.bytes - counted) > NEAR * counted]
        pairs = ({**one, **two} for one, two in combinations(moving, 2) if one.keys() != two.keys())
        found = _near([one for each in pairs for one in _asked(deployment, sizes, each, figure)], wanted)
    return found[:SHOWN]


def _near(found: list[Other], wanted: int) -> list[Other]:
    near = [one for one in found if abs(one.bytes - wanted) <= NEAR * wanted]
    return sorted(near, key=lambda one: round(100 * abs(one.bytes / wanted - 1)))  # of equal ones, the usual first


def _single(deployment: Deployment) -> Iterator[dict[str, Any]]:
    """Options that have an effect in this mode and were not given, with each of their values."""
    run, given = deployment.run, deployment.options.given
    known = {name: one for name, one in options_of("memory") if run.mode in (one.modes or (run.mode,))}
    for name in TRIED:
        if name in known and name not in given:
            yield from ({name: value} for value in known[name].known())
    for name, values in (IN_TRAINING if run.trains else IN_INFERENCE).items():
        if name not in given:
            yield from ({name: value} for value in values)


def _asked(deployment: Deployment, sizes: Sizes, changes: dict[str, Any], figure: Figure) -> Iterator[Other]:
    """Nothing where it is refused."""
    options = replace(deployment.options, **changes)
    try:
        options.check()
        yield Other(changes, figure(peak(deploy(deployment.network, options), sizes)))
    except InputError:
        return
