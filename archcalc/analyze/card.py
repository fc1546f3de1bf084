"""A block for a model card: what `archcalc MODEL` says, a line for each fact, with how it was computed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from archcalc.analyze.fit.sentence import card_sizes
from archcalc.analyze.fit.uses import INFERENCE
from archcalc.analyze.glance import GlanceReport, glance
from archcalc.analyze.memory.deployment import deploy
from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.network import Network
from archcalc.report.base import Report
from archcalc.report.table import Column
from archcalc.run.options import Options
from archcalc.spec.units import binary_bytes, rounded
from archcalc.version import __version__


class Fact(NamedTuple):
    name: str
    value: str


@dataclass(frozen=True)
class CardReport(Report):
    command: ClassVar[str] = "card"
    glance: GlanceReport
    weights: tuple[tuple[str, int], ...]  # bytes, by the format
    rows: tuple[Fact, ...]

    def title(self) -> str:
        return f"{self.model}: size and memory"

    def columns(self) -> Sequence[Column[Fact]]:
        return Column("fact", "", "name", "name"), Column("value", "", "text", "value")

    def facts(self) -> dict[str, Any]:
        return {**self.glance.facts(), "weights": [{"format": name, "bytes": size} for name, size in self.weights]}


def card(model: Network, typed: str) -> CardReport:
    seen = glance(model, typed)
    sizes = tuple(_weights(model, seen))
    line = shlex.join(["archcalc", "card", typed, *(word for change in model.changes for word in ("--set", change))])
    how = f"computed from the architecture by archcalc {__version__}: `{line}`"
    notes = (Assumption(Topic.SOURCE, how), *without(seen.assumptions, Topic.TABLE))
    return CardReport(model.name, notes, seen, sizes, tuple(_facts(seen, sizes)), scope=model.scope)


def _weights(model: Network, seen: GlanceReport) -> Iterator[tuple[str, int]]:
    """As they are stored, then in the formats that smaller cards take."""
    params = seen.params
    yield (params.precision, params.bytes) if params.stored is None else ("as stored", params.stored)
    for use in seen.rows:
        if use.name == INFERENCE and "weights" in use.options:
            yield use.format, int(deploy(model, Options.of("memory", use.options)).parameters.weights)


def _facts(seen: GlanceReport, sizes: Sequence[tuple[str, int]]) -> Iterator[Fact]:
    params, cache = seen.params, seen.cache
    yield Fact("architecture", seen.kind)
    yield Fact("parameters", f"{int(params.total):,} ({rounded(int(params.total))})")
    if params.active != params.total:
        yield Fact("active per token", f"{params.active:,} ({rounded(params.active)})")
    yield Fact("weights", ", ".join(f"{binary_bytes(size)} {_in(name)}" for name, size in sizes))
    if runs := [use for use in seen.rows if use.name == INFERENCE]:
        yield Fact(f"smallest usual card{' for the counted part' * (not seen.scope.runs_whole)}", card_sizes(runs))
    if seen.trained:
        yield Fact("fine-tuning", seen.trained)
    if seen.longest:
        yield Fact("context", f"up to {seen.longest:,} tokens")
    if cache:
        yield Fact(cache.name, cache.sizes())


def _in(format: str) -> str:
    return format if format == "as stored" else f"in {format}"
