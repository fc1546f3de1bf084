"""The report of `archcalc memory`: memory on each GPU at the peak, by part and by layer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.memory.profile import Instant
from archcalc.analyze.memory.replicated import Undivided, records
from archcalc.analyze.memory.rows import Row
from archcalc.core.mesh import Plan
from archcalc.report.base import SCHEMA_VERSION, Column, Figure, Line, Report, Table
from archcalc.report.tree import outline
from archcalc.spec.units import binary_bytes, decimal_bytes

PARTS = {
    "weights": "weights",
    "master": "master weights",
    "gradients": "gradients",
    "optimizer": "optimizer states",
    "activations": "activations",
    "logits": "logits and loss",
    "temporary": "temporary",
    "kv_cache": "KV cache",
    "state": "recurrent state",
    "overhead": "overhead",
}
USUAL_DEPTH = 3
SIZE = (Column("bytes", "count"), Column("", "bytes"))


@dataclass(frozen=True)
class MemoryReport(Report):
    command: ClassVar[str] = "memory"
    mode: str
    batch: int
    lengths: dict[str, int]
    context: int  # tokens that are cached before the one that is decoded
    plan: Plan
    peak: Instant
    instants: tuple[Instant, ...]
    states: dict[str, int]  # weights, master, gradients and optimizer when all of them are there
    padding: int  # what FSDP2 allocates and never fills, over all GPUs
    rows: tuple[Row, ...]
    estimates: tuple[str, ...]
    undivided: tuple[Undivided, ...] = ()
    weights: str = ""  # their format
    depth: int = USUAL_DEPTH
    timeline: bool = False

    @property
    def parts(self) -> dict[str, int]:
        """Bytes by part at the peak; they add up to the total."""
        return self.peak.parts

    @property
    def total_bytes(self) -> int:
        """Peak bytes of one GPU, the one with the most."""
        return self.peak.bytes

    def title(self) -> str:
        asked = {"train": "training", "infer": "inference"}.get(self.mode, self.mode)
        sizes = {"batch": self.batch, **self.lengths}
        if self.mode == "decode":
            sizes = {**dict(list(sizes.items())[:-1]), "context": self.context}
        shown = (f"{name} {size:,}" for name, size in sizes.items())
        return " · ".join((self.model, asked, *shown, *self.plan.words()))

    def answer(self) -> str:
        where = "on each GPU" if self.plan.gpus > 1 else "on one GPU"
        about = "about " if self.estimates else ""
        exact = f"{self.total_bytes:,} bytes · {binary_bytes(self.total_bytes)}"
        return f"{about}{decimal_bytes(self.total_bytes)} {where} · {exact}"

    def figures(self) -> list[Figure]:
        """Bytes of weights, gradients and optimizer states over the whole step."""
        if self.mode != "train":
            return []
        whole = Figure("weights and states", sum(self.states.values()), "bytes")
        padding = Figure("padding, all GPUs", self.padding, "bytes", "FSDP2 gives every GPU the same number of rows")
        return [whole, padding] if self.padding else [whole]

    def table(self) -> Table:
        """Bytes by part at the peak."""
        first = f"peak: {instant_name(self.peak)}" if self.mode == "train" else "part"
        lines = [self._part_line(part, size) for part, size in self.parts.items() if size]
        return Table((Column(first, "name"), *SIZE, Column("share", "share")), tuple(lines))

    def more(self) -> Sequence[Table]:
        if self.timeline:
            over = (Column("timeline", "name"), *SIZE, Column("of the peak", "share"))
            return [Table(over, tuple(self._timeline_lines()))]
        labels = ("weights", "states", "saved") if self.mode == "train" else ("weights", "cache")
        wide = (Column(label, "bytes", spare=True) for label in labels)
        columns = (Column("layer", "name"), Column("×", "times"), *SIZE, *wide, Column("share", "share"))
        return [Table(columns, tuple(self._layer_lines()))]

    def _part_line(self, part: str, size: int) -> Line:
        line = self._line(PARTS[part], size)
        return line._replace(flag="estimate") if part == "overhead" else line

    def _line(self, name: str, number: int, depth: int = 0) -> Line:
        return Line((name, number, number, self._share(number)), depth)

    def _share(self, number: int) -> float:
        return number / self.total_bytes if self.total_bytes else 0.0

    def _layer_lines(self) -> Iterator[Line]:
        for row, depth in outline(self.rows, lambda row: row.bytes):
            if row.bytes and depth < self.depth:
                sizes = (row.bytes, row.bytes, *self._kept(row))
                yield Line((row.title, row.times, *sizes, self._share(row.bytes)), depth)

    def _kept(self, row: Row) -> tuple[int, ...]:
        part = row.parts
        if self.mode != "train":
            return part["weights"], part["kv_cache"] + part["state"]
        states = sum(part.get(kind, 0) for kind in ("master", "gradients", "optimizer"))
        return part.get("weights", 0), states, part.get("activations", 0) + part.get("logits", 0)

    def _timeline_lines(self) -> Iterator[Line]:
        """The peak within each phase and module of the step."""
        phase = ""
        for instant in self.instants:
            if instant.phase != phase:
                phase = instant.phase
                yield Line((phase, None, None, None), heading=True)
            yield self._line(stretch_name(instant), instant.bytes, 1)

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            **self.scope.record(),
            "mode": self.mode,
            "batch": self.batch,
            **self.lengths,
            **({"context": self.context} if self.mode == "decode" else {}),
            **self.plan.record(),
            "weights_format": self.weights,
            "total_bytes": self.total_bytes,
            "parts": self.parts,
            "peak": {"phase": self.peak.phase, "path": self.peak.module.path or "model"},
            "states": self.states,
            "padding_bytes": self.padding,
            "not_divided": records(self.undivided),
            "estimate": bool(self.estimates),
            "estimates": list(self.estimates),
            "assumptions": self.assumed(),
            "timeline": [self._instant_record(instant) for instant in self.instants],
            "rows": [self._row_record(row) for row in self.rows],
        }

    def _instant_record(self, instant: Instant) -> dict[str, Any]:
        return {"phase": instant.phase, "path": instant.module.path or "model", "bytes": instant.bytes}

    def _row_record(self, row: Row) -> dict[str, Any]:
        return {"path": row.path, "kind": row.kind, "repeat": row.repeat, "bytes": row.bytes, **row.parts}


def stretch_name(instant: Instant) -> str:
    """The layer, or what a whole step does."""
    return instant.module.path or {"step": "optimizer", "loss": "loss"}.get(instant.phase, "loss")


def instant_name(instant: Instant) -> str:
    """`backward, loss`, `step`."""
    name = stretch_name(instant)
    return instant.phase if instant.phase in ("step", "loss") else f"{instant.phase}, {name}"
