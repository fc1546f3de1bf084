"""The report of `archcalc fit`: one row per device, then one per change that would help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.fit.combinations import Together
from archcalc.analyze.fit.remedies import Remedy
from archcalc.analyze.memory.report import MemoryReport
from archcalc.report.base import Column, Figure, Line, Report, Table
from archcalc.spec.units import binary_bytes

SEGMENTS = {
    "weights": ("weights",),
    "optimizer": ("master", "gradients", "optimizer"),
    "activations": ("activations", "logits", "temporary", "buffers"),
    "cache": ("kv_cache", "state"),
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


@dataclass(frozen=True)
class Row:
    """One device. None: not bounded, or no number is enough."""

    gpu: str
    capacity_bytes: int
    required_bytes: int
    max_batch: int | None
    max_seq: int | None
    limited_by: str | None
    gpus_needed: int | None
    remedy: Remedy | None
    host_bytes: int = 0  # of what is offloaded
    host_capacity: int | None = None  # None: not asked about

    @property
    def fits(self) -> bool:
        return self.fits_gpu and self.fits_host

    @property
    def fits_gpu(self) -> bool:
        return self.required_bytes <= self.capacity_bytes

    @property
    def fits_host(self) -> bool:
        return self.host_capacity is None or self.host_bytes <= self.host_capacity

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "gpu": self.gpu,
            "capacity_bytes": self.capacity_bytes,
            "required_bytes": self.required_bytes,
            "fits": self.fits,
            "max_batch": self.max_batch,
            "max_seq": self.max_seq,
            "limited_by": self.limited_by,
            "gpus_needed": self.gpus_needed,
            "remedy": self.remedy.change.option if self.remedy else None,
            **self._host_record(),
        }

    def _host_record(self) -> dict[str, int]:
        """Host RAM, where it was asked about."""
        found = {"host_bytes": self.host_bytes or None, "host_capacity_bytes": self.host_capacity}
        return {name: number for name, number in found.items() if number is not None}


@dataclass(frozen=True)
class FitReport(Report):
    """Rows by device; `memory` is what the model needs on each GPU."""

    command: ClassVar[str] = "fit"
    memory: MemoryReport
    rows: tuple[Row, ...]
    remedies: tuple[Remedy, ...]
    together: tuple[Together, ...] = ()

    @property
    def segments(self) -> dict[str, int]:
        """The parts of memory as the bars show them."""
        found = {name: sum(self.memory.parts[part] for part in parts) for name, parts in SEGMENTS.items()}
        return {**found, "not in use": self.memory.required_bytes - self.memory.total_bytes}

    def title(self) -> str:
        """The same question as that of `archcalc memory`."""
        return self.memory.title()

    def answer(self) -> str:
        """The memory needed, and on which devices it fits."""
        host = f" and {binary_bytes(self.memory.host_bytes)} of host RAM" if self.memory.host else ""
        needs = f"needs {binary_bytes(self.memory.required_bytes)} on each GPU{host}"
        if len(self.rows) > 1:
            return f"{needs}: fits {sum(row.fits for row in self.rows)} of {len(self.rows)} devices"
        (row,) = self.rows
        left = binary_bytes(abs(row.capacity_bytes - row.required_bytes))
        if row.fits:
            return f"{needs}: fits {row.gpu} with {left} left"
        if row.host_capacity is not None and not row.fits_host:
            more = "" if row.fits_gpu else f", and by {left} on {row.gpu}"
            return f"{needs}: short by {binary_bytes(row.host_bytes - row.host_capacity)} of host RAM{more}"
        helps = f"; {row.remedy.change.option} would do" if row.remedy else ""
        return f"{needs}: short by {left} on {row.gpu}{helps}"

    def beneath(self) -> Sequence[str]:
        """Combinations of changes, shown if no single change is enough."""
        alone = len(self.rows) > 1 or self.rows[0].fits_gpu or self.rows[0].remedy
        return [] if alone else list(self._helps_together())

    def _helps_together(self) -> Iterator[str]:
        """A line for each way, as a user writes it."""
        yield f"no single change is enough{', but together:' if self.together else ', nor are all together'}"
        for way in self.together:
            on = f"{way.gpus} × {self.rows[0].gpu}" if way.gpus > 1 else self.rows[0].gpu
            yield f"  {binary_bytes(way.required)} on {on}: {way.change.option}"

    def figures(self) -> Sequence[Figure]:
        """The parts, in their order in the bars."""
        parts = enumerate(self.segments.items())
        return tuple(Figure(name, size, "bytes", segment=place) for place, (name, size) in parts if size)

    def table(self) -> Table:
        columns = (
            Column("gpu", "name"),
            Column("memory", "binary"),
            Column("needed of it", "stack"),
            Column("left", "room"),
            *([Column("host RAM", "binary")] if self.memory.host else []),
            Column("batch", "bound"),
            Column("context", "bound"),
            Column("GPUs", "bound"),
        )
        return Table(columns, tuple(self._line(row) for row in self.rows))

    def _line(self, row: Row) -> Line:
        bar = (tuple(self.segments.values()), row.capacity_bytes)
        left = row.capacity_bytes - row.required_bytes
        host = [row.host_bytes] if self.memory.host else []
        return Line((row.gpu, row.capacity_bytes, bar, left, *host, row.max_batch, row.max_seq, row.gpus_needed))

    def more(self) -> Sequence[Table]:
        """What would help, cheapest first."""
        if not self.remedies:
            return ()
        columns = (
            Column("what would help", "name"),
            Column("needed", "binary"),
            Column("fits" if len(self.rows) == 1 else "fits from", "text"),
            Column("price", "text"),
        )
        return (Table(columns, tuple(self._remedy_line(remedy) for remedy in self.remedies)),)

    def _remedy_line(self, remedy: Remedy) -> Line:
        enough = [row for row in self.rows if remedy.required <= row.capacity_bytes]
        least = min(enough, key=lambda row: row.capacity_bytes, default=None)
        return Line((remedy.change.option, remedy.required, self._fits(least), remedy.change.price))

    def _fits(self, least: Row | None) -> str:
        """The smallest GPU on which the model fits; with a single device, whether it fits."""
        if len(self.rows) == 1:
            return "yes" if least else "no"
        return least.gpu if least else "–"

    def record(self) -> dict[str, Any]:
        asked = self.memory.record()
        return {
            **{key: asked[key] for key in ("schema_version", "model", "mode", "batch", *self.memory.lengths, *ASKED)},
            **self.scope.record(),
            **(self.memory.host.record() if self.memory.host else {}),
            "parts": self.memory.parts,
            "estimates": list(self.memory.estimates),
            "assumptions": self.assumed(),
            "remedies": [self._remedy_record(remedy) for remedy in self.remedies],
            "together": [
                {"option": way.change.option, "gpus": way.gpus, "required_bytes": way.required} for way in self.together
            ],
            "rows": [row.record() for row in self.rows],
        }

    def _remedy_record(self, remedy: Remedy) -> dict[str, Any]:
        change = remedy.change
        enough = [row.gpu for row in self.rows if remedy.required <= row.capacity_bytes]
        return {
            "change": change.name,
            "option": change.option,
            "price": change.price,
            "required_bytes": remedy.required,
            "enough_for": enough,
        }
