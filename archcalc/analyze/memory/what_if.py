"""The step of a training run with checkpointing, ZeRO and LoRA switched on and off: every combination that is allowed.

found = what_if(deployment, sizes)
found.switches                          what can be switched, and how
found.lines[0, 3, 1]                    the timeline of a combination, by the places of its values
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.timeline import Timeline
from archcalc.analyze.memory.tracing import timeline
from archcalc.core.errors import InputError
from archcalc.run.option_words import RECOMPUTE
from archcalc.run.resolved import Run
from archcalc.spec.sizes import Sizes

GPUS = 8  # of a node, that ZeRO divides over where the run has one
RANK = 16  # of LoRA, where none is given
MOST_OPS = 4_000  # of a step: with more, nobody waits for every combination


class Value(NamedTuple):
    """What a switch can be set to, and the options that say so."""

    label: str
    options: Mapping[str, Any]


class Switch(NamedTuple):
    """Values of which the run has the one at `asked`."""

    label: str
    values: tuple[Value, ...]
    asked: int


@dataclass(frozen=True)
class WhatIf:
    """Timelines by the places of the values of all switches; a combination that is refused has none."""

    switches: tuple[Switch, ...]
    lines: Mapping[tuple[int, ...], Timeline]

    @property
    def asked(self) -> tuple[int, ...]:
        return tuple(one.asked for one in self.switches)

    def alone(self) -> WhatIf:
        """The run itself, without switches."""
        return WhatIf((), {(): self.lines[self.asked]})


def what_if(deployment: Deployment, sizes: Sizes, asked: Timeline) -> WhatIf:
    """`asked` is the timeline of the run itself. A switch that changes nothing that is allowed is left out."""
    found: list[Switch] = []
    is_tried = deployment.run.trains and not deployment.stage and len(asked.ops) <= MOST_OPS
    for switch in _switches(deployment.run) if is_tried else ():
        tried = [value for value in switch.values if _line(deployment, sizes, value.options)]
        if len(tried) > 1 and switch.values[switch.asked] in tried:
            found.append(Switch(switch.label, tuple(tried), tried.index(switch.values[switch.asked])))
    lines = dict(_lines(deployment, sizes, found))
    return WhatIf(tuple(found), {**lines, tuple(one.asked for one in found): asked})


def _lines(deployment: Deployment, sizes: Sizes, switches: list[Switch]) -> Iterator[tuple[tuple[int, ...], Timeline]]:
    for places in product(*(range(len(one.values)) for one in switches)):
        options = [one.values[place].options for one, place in zip(switches, places, strict=True)]
        line = _line(deployment, sizes, {name: value for each in options for name, value in each.items()})
        if line:
            yield places, line


def _switches(run: Run) -> Iterator[Switch]:
    """With the value of the run among them, if it is another."""
    own = next(name for name, value in RECOMPUTE.items() if value == run.recompute)
    names = {"none": "off", own: own} | {"none": "off", "full": "on"}
    recompute = tuple(Value(label, {"recompute": name}) for name, label in names.items())
    yield Switch("activation checkpointing", recompute, list(names).index(own))
    gpus, stage = run.plan.dp if run.plan.dp > 1 else GPUS, run.plan.zero
    zero = [Value(f"stage {each}", {"dp": gpus, "zero": each}) for each in (1, 2, 3)]
    off = Value("off", {"dp": run.plan.dp, "zero": 0})
    yield Switch(f"ZeRO over {gpus} GPUs", (off, *zero), stage)
    rank = run.lora or RANK
    yield Switch("LoRA", (Value("off", {"lora": None}), Value(f"rank {rank}", {"lora": rank})), int(bool(run.lora)))


def _line(deployment: Deployment, sizes: Sizes, options: Mapping[str, Any]) -> Timeline | None:
    """Nothing where it is refused."""
    asked = replace(deployment.options, **options)
    try:
        asked.check()
        return timeline(deploy(deployment.network, asked), sizes)
    except InputError:
        return None
