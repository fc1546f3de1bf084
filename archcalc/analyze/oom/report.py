"""The report of `archcalc oom`: what a log says, beside what is counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.fit import remedy_words
from archcalc.analyze.fit.rows import Row as OnDevice
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.memory.measured_run import Compared
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.oom.candidates import Candidate
from archcalc.analyze.oom.comparing import POOL, Row
from archcalc.analyze.oom.reading import Log
from archcalc.report.base import Report, given
from archcalc.report.table import Column, Line, Table, cells_of, heading, in_tables, keys, records_of, table_of
from archcalc.report.units import Quantity, unit, words
from archcalc.run.choice import run_record
from archcalc.simulate.allocator import LARGE_SEGMENT, SMALL_SEGMENT
from archcalc.spec.units import binary_bytes

FAR = 0.15  # of what is allocated before a tensor, and the log says otherwise
DIFFERS = ("--weights, --batch, --seq, --attention", "--recompute, --precision, --batch, --optimizer")  # in training
BESIDE_TRIED = {"allocated": "with {} allocated", "capacity": "on a card of {}"}
SHOWN = 8  # tensors that people read; programs get all
PHASES = {
    "forward": "the forward pass",
    "backward": "the backward pass",
    "loss": "the loss",
    "loading": "the loading of weights",
    "step": "the optimizer's step",
}
SEGMENTS = {SMALL_SEGMENT: "up to 1 MiB", LARGE_SEGMENT: "1 to 10 MiB"}

unit("off", lambda value: f"{round(100 * value, 1) or 0:+.1f} %".replace("-", "−").replace("+0.0", "0.0"))
unit("fold", lambda value: f"{value:,.2f} ×")


@dataclass(frozen=True)
class OomReport(Report):
    """`device` and `remedies` are there where the log or an option says which card it is."""

    command: ClassVar[str] = "oom"
    memory: MemoryReport
    log: Log
    rows: tuple[Row, ...]
    likely: tuple[Candidate, ...]  # tensors that are as large, the likeliest first
    read: Sequence[str]  # options that the log told
    unread: Sequence[str] = ()  # those that archcalc does not take, with the reason
    device: OnDevice | None = None
    tokens: Sequence[str] = ()  # of logits that would be as large, where no tensor is
    remedies: tuple[Remedy, ...] = ()
    measured: Compared | None = None  # where the run took more than is counted
    share: float = 0.0  # of the card, that would be enough for one request; 0: none, or there is no such option
    missing: int = 0  # bytes of a KV cache that are counted and not there

    def title(self) -> str:
        return self.memory.title()

    @property
    def segment(self) -> str:
        """Of an allocation that is the same for all small tensors, how large these are."""
        if self.log.buffers:
            return ""
        return SEGMENTS.get(self.log.get("tried"), "")

    def answer(self) -> str:
        """What happened, which tensor is as large, and what helps."""
        log, helps = self.log, ""
        if not log.is_failure:
            known = [row for row in self.rows if row.difference is not None]
            near = sum(row.is_near for row in known)
            return f"{log.name} started: {near} of {len(known)} figures of its log are within 5 % of what is counted"
        if self.remedies and self.remedies[0].changes == 1:
            helps = f"; {self.remedies[0].change.option} makes it fit"
        if "tried" not in log.figures:
            return f"{log.failure}{helps}"
        tried = [f"{log.name} tried to allocate {binary_bytes(log.get('tried'))}"]
        tried += [words.format(binary_bytes(log.get(name))) for name, words in BESIDE_TRIED.items() if log.get(name)]
        return f"{' '.join(tried)}: {self._largest()}{helps}"

    def _largest(self) -> str:
        if self.segment:
            return f"as much as any tensor of {self.segment} takes, so the card was full already"
        if not self.likely:
            return "no tensor of this run is that large"
        first, *others = self.likely
        found = f"as large as {' of '.join(filter(None, (first.what, first.path)))}"
        if sizes := ", ".join(filter(None, (first.sizes, first.dtype))):
            found += f" ({sizes})"
        if not self.log.buffers:
            found += f" in {PHASES.get(first.phase, first.phase)}"
        if others:
            found += f", or one of {len(others)} more"
        return found

    def beneath(self) -> Sequence[str]:
        return list(self._lines())

    def _lines(self) -> Iterator[str]:
        log = self.log
        if log.get("tried") and log.failure:
            yield log.failure
        if log.get("tried") and not self.likely and not self.segment:
            yield "another batch, length or option than this run's may explain it: --batch, --seq, --mode, --attention"
        if self.tokens and not self.segment:
            yield f"logits of {' or '.join(self.tokens)} are as large (batch × seq)"
        allocated = log.get("allocated")
        if self.likely and allocated and not (self.segment or self.measured):
            by_then = self.likely[0].before(allocated)
            if by_then and abs(by_then - allocated) > FAR * allocated:
                counted = f"before it {binary_bytes(by_then)} are counted, unlike the log"
                yield f"{counted}: the run may differ ({DIFFERS[self.memory.mode == 'train']})"
        if self.read:
            yield f"read from the log: {' '.join(self.read)}"
        yield from (f"not read: {one}" for one in self.unread)
        yield from (f"not counted here: {one}" for one in log.not_counted)
        if log.others:
            yield f"{binary_bytes(log.others)} of the card are held by other processes"
        if log.get("unused") >= log.get("tried") > 0:
            pieces = f"{binary_bytes(log.get('unused'))} are reserved but unallocated, in pieces that are too small"
            yield f"{pieces}: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True may be enough"
        if self.measured:
            yield from self.measured.lines()
        for why in dict.fromkeys(row.why for row in self.rows if row.why):
            off = (f"{row.kind.label} {words(row.difference, 'off')}" for row in self.rows if row.why == why)
            yield f"{', '.join(off)}: {why}"
        if self.missing:
            yield f"the KV cache has {binary_bytes(self.missing)} less than counted, as in what follows"
        if self.device is None and any(row.figure in POOL for row in self.rows):
            yield "name the card (--gpu), and what it leaves for the KV cache is counted"
        if self.log.is_failure:
            yield from self._helps()

    def _helps(self) -> Iterator[str]:
        if self.share:
            yield f"--gpu-memory-utilization {self.share:.2f} is enough for one request, if a step fits into the rest"
        if self.device is None:
            yield "name the card (--gpu), and changes that make it fit are listed"
        elif self.device.is_enough:
            room = self.device.capacity_bytes
            yield f"as counted it fits: {binary_bytes(self.device.required_bytes)} of {binary_bytes(room)}"
        elif self.remedies or not self.share:
            yield from remedy_words.ways(self.device, self.remedies)

    def columns(self) -> tuple[Column[Row], ...]:
        return (
            *keys("figure", "log", "counted", "difference", "why"),
            Column("unit", get=lambda row: row.kind.unit.replace("binary", "bytes")),
            Column("", "figure", "name", "kind.label"),
            Column("", "in the log", "count", lambda row: Quantity(row.log, row.kind.unit)),
            Column("", "counted", "count", lambda row: Quantity(row.counted, row.kind.unit)),
            Column("", "difference", "off", "difference"),
        )

    def more(self) -> Sequence[Table]:
        """Tensors that are as large, then single changes that make it fit."""
        found, listed = [], [one for one in self.remedies if one.changes == 1]
        if self.likely and not self.segment:
            found.append(self._tensors())
        if listed and self.device:
            found.append(table_of(remedy_words.columns([self.device], listed), listed))
        return found

    def _tensors(self) -> Table:
        """By phase, that of the likeliest first."""
        by_then, whole, lines = self.log.get("allocated"), not self.log.buffers, list[Line]()
        columns: tuple[Column[Candidate], ...] = (
            Column("", "as large", "name", lambda one: ", ".join(filter(None, (one.what, one.path)))),
            Column("", "", "text", "dtype", shown=whole),
            Column("", "shape", "shape", "shape", shown=whole),
            Column("", "size", "binary", "bytes"),
            Column("", "×", "times", "times", shown=any(one.times > 1 for one in self.likely)),
            Column("", "by then", "binary", lambda one: one.before(by_then) or None, shown=bool(by_then), spare=True),
        )
        shown, listed = in_tables(columns), self.likely[:SHOWN]
        for phase in dict.fromkeys(one.phase for one in listed):
            lines.append(heading(phase, shown))
            lines += [Line(cells_of(shown, one), 1) for one in listed if one.phase == phase]
        return Table(shown, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "run": run_record(self.title(), self.memory.choices),
            **self.scope.record(),
            "program": self.log.name,
            "answer": self.answer(),
            "failed": self.log.is_failure,
            **given(failure=self.log.failure or None, phase=self.log.phase or None),
            "read": list(self.read),
            "unread": list(self.unread),
            "required_bytes": self.memory.required_bytes,
            **given(capacity_bytes=self.device and self.device.capacity_bytes),
            **given(measured=self.measured and self.measured.record()),
        }

    def details(self) -> dict[str, Any]:
        found = {"candidates": [one.record() for one in self.likely], "remedies": list[dict[str, Any]]()}
        if self.device:
            found["remedies"] = records_of(remedy_words.columns([self.device], self.remedies), self.remedies)
        return found
