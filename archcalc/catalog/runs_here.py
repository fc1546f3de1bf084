"""Which presets run on a device: `archcalc fit --gpu m3-ultra-256gb --models`.

For each language model the widest format of the device's ladder that fits with a context of use, and how long that
context can be then. A step is simulated only where the weights alone fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, ClassVar

from archcalc.analyze.fit.facts import facts
from archcalc.analyze.fit.need import fits, required, room
from archcalc.analyze.fit.notes import CAPACITY
from archcalc.analyze.fit.request import Placed, placed_on, with_options
from archcalc.analyze.fit.solve import longest_in
from archcalc.analyze.fit.verdict import Verdict
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.progress import doing
from archcalc.loading import from_file
from archcalc.model import Model
from archcalc.report.base import Report
from archcalc.report.table import Column
from archcalc.run.device import DeviceGroup, group
from archcalc.run.ladders import ladder
from archcalc.run.options import Options
from archcalc.spec import paths

USUAL = 8192  # tokens
FORMATS_AND_CONTEXTS = (
    Assumption(Topic.WEIGHTS, "weights: the widest format that fits, by the engine that is usual for it"),
    Assumption(Topic.TABLE, "context: the longest that fits with the error band to spare, up to the model's own"),
)


@dataclass(frozen=True)
class Runs:
    """One preset in the format that fits."""

    model: str
    parameters: int
    weights: str
    required_bytes: int
    left_bytes: int
    max_seq: int | None
    not_counted: str = ""  # parts of the model

    @property
    def verdict(self) -> Verdict:
        """Of a part of a model, nobody can say."""
        return Verdict.CANNOT_SAY if self.not_counted else Verdict.FITS


@dataclass(frozen=True)
class RunsReport(Report):
    command: ClassVar[str] = "fit"
    gpu: str
    capacity: int
    length: int
    rows: tuple[Runs, ...]
    too_large: tuple[str, ...]

    def title(self) -> str:
        return f"language models on {self.model}"

    def answer(self) -> str:
        every, whole = len(self.rows) + len(self.too_large), sum(not row.not_counted for row in self.rows)
        parts = len(self.rows) - whole
        unsure = f", of {parts} only a part is counted" if parts else ""
        rest = f"; {len(self.too_large)} do not even at 2 bits" if self.too_large else ""
        return f"{whole} of {every} presets fit with {self.length:,} tokens or all that they have{unsure}{rest}"

    def columns(self) -> tuple[Column[Runs], ...]:
        in_part = any(row.not_counted for row in self.rows)
        return (
            Column("model", "model", "name"),
            Column("parameters", "parameters", "count"),
            Column("weights", "weights", "text"),
            Column("required_bytes", "needed", "binary"),
            Column("left_bytes", "left", "room"),
            Column("max_seq", "context", "bound"),
            Column("", "fits", "verdict", "verdict", shown=in_part),
            Column("not_counted", "not counted", "text", shown=in_part, spare=True),
        )

    def facts(self) -> dict[str, Any]:
        return {"gpu": self.gpu, "capacity_bytes": self.capacity, "seq": self.length}

    def details(self) -> dict[str, Any]:
        return {"too_large": list(self.too_large)}


def runs_here(name: str, options: Options, pattern: str = "") -> RunsReport:
    """Presets whose name has the pattern, the largest first."""
    if options.trains:
        raise InputError("is about inference", "leave --mode out", field="--models")
    devices = group(name)
    length = options.sizes.seq or options.sizes.context or USUAL
    names, found = [name for name in paths.presets() if pattern.lower() in name], list[Runs]()
    if not names:
        raise InputError(f"no preset's name has {pattern}", "`archcalc presets` lists all", field="MODEL")
    for place, stem in enumerate(names, 1):
        doing(f"{place} of {len(names)} presets: {stem}")
        with suppress(InputError):  # a file of a user's own that cannot be read, a model that takes other options
            found += _runs(stem, from_file(paths.presets()[stem]), devices, options, length)
    rows = sorted((run for run in found if run.weights), key=lambda run: -run.parameters)
    return RunsReport(
        model=devices.words,
        assumptions=(
            Assumption(Topic.SEQ, f"context of at least {length:,} tokens, or all that a model has", length, "--seq"),
            *FORMATS_AND_CONTEXTS,
            CAPACITY,
        ),
        gpu=devices.name,
        capacity=devices.first.capacity,
        length=length,
        rows=tuple(rows),
        too_large=tuple(sorted(run.model for run in found if not run.weights)),
    )


def _runs(name: str, model: Model, devices: DeviceGroup, options: Options, length: int) -> Iterator[Runs]:
    """Nothing for what is no language model."""
    if list(model.resolved.lengths) != ["seq"]:
        return
    # With the context asked for, or all that the model has.
    most = model.resolved.lengths["seq"].length
    sizes = replace(options.sizes, seq=min(length, most or length), context=None)
    placed = placed_on(model, replace(options, sizes=sizes), [devices])[0]
    known = facts(placed.request, devices.kinds)
    if known.decodes:
        formats = [one.format for one in ladder(known.engine, known.kind).weights if one.bits < known.bits]
        yield _widest(name, placed, formats)


def _widest(name: str, placed: Placed, formats: Sequence[str]) -> Runs:
    """The first that fits, from wide to narrow; without a format where none does."""
    request, device = placed.request, placed.group.first
    elements = sum(one.copies * int(one.param.elements) for one in request.deployment.parameters.held)
    now = request.deployment.run.format.name.lower()
    narrower = (with_options(request, request.options.changed(weights=rung)) for rung in formats)
    for rung, tried in zip((now, *formats), chain([request], narrower), strict=True):
        if fits(tried, device):
            here, needed = room(tried, device), required(tried)
            longest, _ = longest_in(tried, here.safe)
            return Runs(name, elements, rung, needed, here.capacity - needed, longest, here.missing)
    return Runs(name, elements, "", 0, 0, 0)
