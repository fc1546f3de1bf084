"""What a chart shows: figures of `archcalc params`, `flops` and `memory`, each by the name that `--y` takes; and one
question of it, a model with some options that is answered at many sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.analyze.adapted import counted
from archcalc.analyze.flops.answer import amounts, flops
from archcalc.analyze.memory.deployment import Deployment, deployed
from archcalc.analyze.memory.parts import PARTS
from archcalc.analyze.memory.peak import peak
from archcalc.analyze.memory.reporting import report
from archcalc.analyze.option_checks import check_sizes
from archcalc.core.errors import InputError, did_you_mean
from archcalc.network import Network
from archcalc.report.picture import Kind, Number
from archcalc.run.commands import COMMANDS
from archcalc.run.options import Options, options_of
from archcalc.spec.option_checks import names
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.report.base import Report

MEMORY = "memory"  # the measure that a device's memory is compared with


@dataclass(frozen=True)
class Measure:
    """`parts` are the figures of its command that it sums up."""

    name: str
    title: str
    command: str
    unit: Kind
    parts: tuple[str, ...]

    @property
    def is_part_of_memory(self) -> bool:
        """Bytes of one kind, as opposed to all that a device has to hold."""
        return self.unit == "bytes" and self.name != MEMORY


OWN = (
    Measure(MEMORY, "memory", "memory", "bytes", ("required",)),
    Measure("cache", "cache", "memory", "bytes", ("kv_cache", "state")),
    Measure("params", "parameters", "params", "count", ("params",)),
    Measure("active", "active parameters", "params", "count", ("active",)),
    Measure("flops", "FLOPs", "flops", "flops", ("flops",)),
    Measure("flops-per-token", "FLOPs per token", "flops", "flops", ("per_token",)),
)
OF_PARTS = tuple(Measure(part.replace("_", "-"), title, "memory", "bytes", (part,)) for part, title in PARTS.items())
MEASURES = {one.name: one for one in (*OWN, *OF_PARTS)}
USUAL = MEMORY


def measures(written: str | Sequence[str]) -> tuple[Measure, ...]:
    """`memory,cache`, or a list of such names."""
    found = {}
    for name in names(written, "--y") or (USUAL,):
        known = name.lower().replace("_", "-")
        if known not in MEASURES:
            raise InputError(f"nothing to draw is called {name}", did_you_mean(known, MEASURES), field="--y")
        found[known] = MEASURES[known]
    return tuple(found.values())


@dataclass(frozen=True)
class Subject:
    """`given` are options as they were given."""

    label: str
    model: Network
    given: dict[str, Any]
    named: bool = False  # in the labels of its curves: one of several models

    @property
    def words(self) -> list[str]:
        """What a label of its curves begins with."""
        return [self.label] if self.named else []

    def options(self, command: str) -> Options:
        """The options of a command, as if that had been asked."""
        known = dict(options_of(command))
        return Options.of(command, {name: value for name, value in self.given.items() if name in known})

    def mode(self, command: str) -> str:
        return str(self.given.get("mode") or COMMANDS[command].mode)

    def longest(self, option: str) -> int | None:
        """Of the lengths that an option sets: the longest sequence that the model has positions for."""
        lengths = self.model.resolved.lengths
        own = {"seq": list(lengths.values()), "context": list(lengths.values())[-1:]}
        found = own.get(option, [lengths[option]] if option in lengths else [])
        return min((each.length for each in found if each.length), default=None)

    @property
    def deployment(self) -> Deployment:
        """Whatever the sizes are."""
        return deployed(self.model, replace(self.options("memory"), sizes=Sizes()))

    def answers(self, measures: Iterable[Measure]) -> dict[str, Number]:
        """The numbers of `archcalc params`, `flops` and `memory`, by the name of the measure."""
        asked = list(measures)
        found = {command: _BY_COMMAND[command](self, asked) for command in {one.command for one in asked}}
        return {one.name: sum(found[one.command][part] for part in one.parts) for one in asked}

    def reports(self, commands: Iterable[str]) -> list[Report]:
        """Everything that the commands say, for what they assume."""
        return [_REPORTS[command](self) for command in commands]


def _counts(subject: Subject, asked: list[Measure]) -> dict[str, Number]:
    found = counted(subject.model, Options.of("params", {}))
    return {"params": int(found.total), "active": int(found.active)}


def _work(subject: Subject, asked: list[Measure]) -> dict[str, Number]:
    found, tokens = amounts(subject.model, subject.options("flops"))
    return {"flops": found.total, "per_token": found.total / tokens}


def _bytes(subject: Subject, asked: list[Measure]) -> dict[str, Number]:
    """In training, a device must have more than the tensors take: what the allocator keeps is dear to work out."""
    deployment, sizes = subject.deployment, subject.options("memory").sizes
    check_sizes(deployment.workload(sizes), deployment.options)
    found = peak(deployment, sizes)
    is_whole = any(one.name == "memory" for one in asked)
    return {**found.parts, "required": found.required if is_whole and deployment.run.trains else found.bytes}


_BY_COMMAND = {"params": _counts, "flops": _work, "memory": _bytes}
_REPORTS: dict[str, Any] = {
    "params": lambda subject: counted(subject.model, Options.of("params", {})),
    "flops": lambda subject: flops(subject.model, subject.options("flops")),
    "memory": lambda subject: report(subject.deployment, subject.options("memory").sizes),
}
