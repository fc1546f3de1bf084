"""One question of a chart: a model with some options, answered at many sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from archcalc.analyze.flops.answer import amounts, flops
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.plot.measures import Measure, Number
from archcalc.run.options import USUAL_MODE, Options, options_of
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.model import Model
    from archcalc.report.base import Report

Memories = dict[Options, Memory]


@dataclass(frozen=True)
class Subject:
    """`given` are options as they were given; memories are kept for the next size."""

    label: str
    model: Model
    given: dict[str, Any]
    named: bool = False  # in the labels of its curves: one of several models
    memories: Memories = field(default_factory=dict, compare=False, repr=False)

    @property
    def words(self) -> list[str]:
        """What a label of its curves begins with."""
        if not self.named:
            return []
        return [self.label]

    def with_option(self, name: str, value: Any) -> Subject:
        return replace(self, given={**self.given, name: value})

    def with_field(self, change: str) -> Subject:
        return replace(self, model=self.model.changed(change), memories={})

    def options(self, command: str) -> Options:
        """The options of a command, as if that had been asked."""
        known = dict(options_of(command))
        return Options.of(command, {name: value for name, value in self.given.items() if name in known})

    def mode(self, command: str) -> str:
        return str(self.given.get("mode") or USUAL_MODE[command])

    @property
    def memory(self) -> Memory:
        """Whatever the sizes are."""
        asked = replace(self.options("memory"), sizes=Sizes())
        if asked not in self.memories:
            self.memories[asked] = Memory(self.model, asked)
        return self.memories[asked]

    def answers(self, measures: Iterable[Measure]) -> dict[str, Number]:
        """The numbers of `archcalc params`, `flops` and `memory`, by the name of the measure."""
        asked = list(measures)
        commands = {one.command for one in asked}
        found = {command: _BY_COMMAND[command](self, asked) for command in commands}
        return {one.name: one.of(found[one.command]) for one in asked}

    def reports(self, commands: Iterable[str]) -> list[Report]:
        """Everything that the commands say, for what they assume."""
        return [_REPORTS[command](self) for command in commands]


def _counts(subject: Subject, asked: list[Measure]) -> dict[str, Number]:
    found = subject.model.params()
    return {"params": int(found.total), "active": int(found.active)}


def _work(subject: Subject, asked: list[Measure]) -> dict[str, Number]:
    found, tokens = amounts(subject.model, subject.options("flops"))
    return {"flops": found.total, "per_token": found.total / tokens}


def _bytes(subject: Subject, asked: list[Measure]) -> dict[str, Number]:
    """In training, a device must have more than the tensors take: what the allocator keeps is dear to work out."""
    memory, sizes = subject.memory, subject.options("memory").sizes
    peak = memory.peak_at(sizes)
    is_whole = any(one.name == "memory" for one in asked)
    required = memory.required_bytes(sizes) if is_whole and memory.run.trains else peak.bytes
    return {**peak.parts, "required": required}


_BY_COMMAND = {"params": _counts, "flops": _work, "memory": _bytes}
_REPORTS: dict[str, Any] = {
    "params": lambda subject: subject.model.params(),
    "flops": lambda subject: flops(subject.model, subject.options("flops")),
    "memory": lambda subject: subject.memory.report(subject.options("memory").sizes),
}
