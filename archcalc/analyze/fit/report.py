"""The report of `archcalc fit`: one row per device, then one per change that would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from archcalc.analyze.fit.pool_words import pool_line, pool_tables
from archcalc.analyze.fit.rows import Part, Row
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.fit.verdict import Verdict
from archcalc.analyze.memory.report import MemoryReport
from archcalc.report.base import Column, Figure, Line, Report, Table
from archcalc.run.accuracy import Band
from archcalc.spec.units import binary_bytes

SEGMENTS = {
    "weights": ("weights", "adapters", "draft", "reference", "rollout"),
    "optimizer": ("master", "gradients", "optimizer"),
    "activations": ("activations", "logits", "temporary", "buffers"),
    "cache": ("kv_cache", "state", "draft_cache", "rollout_cache"),
    "overhead": ("overhead",),
}
ASKED = (
    "gpus",
    "tp",
    "dp",
    "zero",
    "sp",
    "cp",
    "weights_format",
    "total_bytes",
    "required_bytes",
    "not_divided",
)  # as `archcalc memory` says them

WORDS = {Verdict.FITS: "yes", Verdict.TIGHT: "tight", Verdict.NOT: "no"}  # in a narrow column


@dataclass(frozen=True)
class FitReport(Report):
    """Rows by device; `memory` is what the model needs on each GPU."""

    command: ClassVar[str] = "fit"
    chart: ClassVar[str] = "devices"
    memory: MemoryReport  # of the first row
    band: Band  # the error of what is needed
    rows: tuple[Row, ...]
    remedies: tuple[Remedy, ...]
    is_solved: bool = True  # for batch, context, number of devices, and what would help

    def segments(self, row: Row) -> dict[str, int]:
        """The parts of memory as the bars show them; of split layers, what is on every device counts so often."""
        found = {name: sum(row.memory.parts[part] for part in parts) for name, parts in SEGMENTS.items()}
        rest = max(row.required_bytes - row.memory.total_bytes, 0)
        return {**found, self._beyond(row): rest}

    def _beyond(self, row: Row) -> str:
        """What is needed besides the tensors of the first device."""
        if row.parts:
            return "on further devices"
        return "outside its share" if row.pool else "not in use"

    @property
    def ok(self) -> bool:
        """Whether it surely fits everywhere."""
        return all(row.verdict is Verdict.FITS for row in self.rows)

    def title(self) -> str:
        """The run in one line, as `archcalc memory` has it; of several devices the rows name each."""
        return self.memory.title() if len(self.rows) == 1 else replace(self.memory, cards="").title()

    def answer(self) -> str:
        """The verdict, the memory needed, and what would help."""
        if len(self.rows) > 1:
            return self._of_several()
        (row,) = self.rows
        alone = row.remedy and row.remedy.changes == 1
        helps = f"; {row.remedy.change.option} makes it fit" if row.remedy and alone else ""
        left = binary_bytes(abs(row.left_bytes))
        if row.verdict is Verdict.FITS:
            return f"fits {row.gpu}: {self._needs(row)}, {left} left"
        if row.verdict is Verdict.TIGHT:
            where = "left" if row.left_bytes >= 0 else "above the recommended limit"
            error = f"with an error of ± {self.band.percent} %"
            return f"tight on {row.gpu}: {self._needs(row)}, {left} {where} {error}{helps}"
        return f"does not fit {row.gpu}: {self._needs(row)}, {self._lacks(row)}{helps}"

    def _lacks(self, row: Row) -> str:
        if row.host_capacity is not None and not row.fits_host:
            return f"and {binary_bytes(row.memory.host_bytes - row.host_capacity)} of host RAM are missing"
        if row.left_bytes >= 0:
            return "one of them has too little"
        return f"{binary_bytes(-row.left_bytes)} more than there is"

    def _needs(self, row: Row) -> str:
        where = " on each GPU" if row.memory.plan.gpus > 1 else ""
        host = f" and {binary_bytes(row.memory.host_bytes)} of host RAM" if row.memory.host else ""
        return f"needs {binary_bytes(row.required_bytes)}{' in all' if row.parts else where}{host}"

    def _of_several(self) -> str:
        tight = sum(row.verdict is Verdict.TIGHT for row in self.rows)
        fitting = sum(row.verdict is Verdict.FITS for row in self.rows)
        also = f", tight on {tight}" if tight else ""
        said = f"fits {fitting} of {len(self.rows)} devices{also}"
        if len({row.required_bytes for row in self.rows}) > 1:
            return said
        return f"{said}: {self._needs(self.rows[0])}"

    def beneath(self) -> Sequence[str]:
        """Combinations of changes, each in one piece, as a user types it."""
        (first, *others) = self.rows
        pool = [pool_line(first.pool)] if first.pool and not others else []
        return [*pool, *self._ways(first, others)]

    def _ways(self, first: Row, others: Sequence[Row]) -> Sequence[str]:
        if others or first.verdict is Verdict.FITS:
            return []
        lines = [f"  {binary_bytes(one.required)}{self._on(one)}: {one.change.option}" for one in self._combined]
        if not (first.fits_host and self.is_solved):
            return []
        if not self.remedies:
            return ["no change makes it fit, nor do all together"]
        return ["what makes it fit:", *lines] if lines else []

    @property
    def _combined(self) -> list[Remedy]:
        return [one for one in self.remedies if one.changes > 1]

    def _on(self, remedy: Remedy) -> str:
        (row,) = self.rows
        return f" on {remedy.gpus} × {row.gpu}" if remedy.gpus > row.devices else ""

    def figures(self) -> Sequence[Figure]:
        """The parts, in their order in the bars."""
        parts = enumerate(self.segments(self.rows[0]).items())
        return tuple(Figure(name, size, "bytes", segment=place) for place, (name, size) in parts if size)

    def table(self) -> Table:
        host = [Column("host RAM", "binary")] if self.memory.host else []
        sizes = [Column("batch", "bound"), Column("context", "bound")] if self._has_sizes else []
        number = [Column("GPUs", "bound")] if self.is_solved else []
        columns = (
            Column("gpu", "name"),
            Column("fits", "text"),
            Column("memory", "binary"),
            Column("needed of it", "stack"),
            Column("left", "room"),
            *host,
            *sizes,
            *number,
        )
        return Table(columns, tuple(map(self._line, self.rows)))

    def _line(self, row: Row) -> Line:
        bar = (tuple(self.segments(row).values()), row.capacity_bytes)
        sizes = [row.max_batch, row.max_seq] if self._has_sizes else []
        number = [row.gpus_needed] if self.is_solved else []
        host = [row.memory.host_bytes] if self.memory.host else []
        room = (row.capacity_bytes, bar, row.left_bytes)
        return Line((row.gpu, WORDS[row.verdict], *room, *host, *sizes, *number))

    @property
    def _has_sizes(self) -> bool:
        """Of a pool, requests and context are said in a table of its own."""
        return self.is_solved and not all(row.pool for row in self.rows)

    def _shares(self) -> Iterator[Table]:
        """Of split layers, what each device holds."""
        columns = (
            Column("device", "name"),
            Column("layers", "text"),
            Column("fits", "text"),
            Column("memory", "binary"),
            Column("needed", "binary"),
            Column("left", "room"),
        )
        for row in self.rows:
            if row.parts:
                yield Table(columns, tuple(map(self._share, row.parts)))

    def _share(self, part: Part) -> Line:
        first, last = part.layers
        sizes = (part.room.capacity, part.required_bytes, part.room.capacity - part.required_bytes)
        return Line((part.gpu, f"{first + 1} to {last}", WORDS[part.verdict], *sizes))

    def more(self) -> Sequence[Table]:
        """What each device holds of split layers, and what would help, cheapest first."""
        listed = [one for one in self.remedies if one.changes == 1]
        return (*self._shares(), *pool_tables(self.rows), *([self._helps(listed)] if listed else []))

    def _helps(self, listed: Sequence[Remedy]) -> Table:
        several = len(self.rows) > 1
        columns = (
            Column("what makes it fit", "name"),
            Column("needed", "binary"),
            *([Column("fits from", "text")] if several else []),
            Column("price", "text"),
        )
        return Table(columns, tuple(map(self._remedy_line, listed)))

    def _remedy_line(self, remedy: Remedy) -> Line:
        smallest = [self._enough_for(remedy)[0]] if len(self.rows) > 1 else []
        return Line((remedy.change.option, remedy.required, *smallest, remedy.change.price))

    def _enough_for(self, remedy: Remedy) -> list[str]:
        """The devices on which it makes the model fit, the smallest first."""
        enough = [row for row in self.rows if remedy.required <= row.room.safe]
        return [row.gpu for row in sorted(enough, key=lambda row: row.capacity_bytes)]

    def record(self) -> dict[str, Any]:
        asked = self.memory.record()
        return {
            **{key: asked[key] for key in ("schema_version", "model", "mode", "batch", *self.memory.lengths, *ASKED)},
            **self.scope.record(),
            **(self.memory.host.record() if self.memory.host else {}),
            "parts": self.memory.parts,
            "estimates": list(self.memory.estimates),
            "band": self.band.fraction,
            "assumptions": self.assumed(),
            "remedies": [self._remedy_record(remedy) for remedy in self.remedies],
            "rows": [row.record() for row in self.rows],
        }

    def _remedy_record(self, remedy: Remedy) -> dict[str, Any]:
        change = remedy.change
        return {
            "change": change.name,
            "option": change.option,
            "price": change.price,
            "required_bytes": remedy.required,
            "gpus": remedy.gpus,
            "enough_for": self._enough_for(remedy),
        }
