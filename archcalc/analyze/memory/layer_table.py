"""The table of a memory report that has a line for each layer.

In training what a layer saves, in inference its cache, and where nothing is cached what it gives out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from archcalc.analyze.memory.rows import Row
from archcalc.report.base import Column, Line, Table
from archcalc.report.tree import outline

STATES = ("master", "gradients", "optimizer")
LAYER = (Column("layer", "name"), Column("×", "times"))
SIZE = (Column("bytes", "count"), Column("", "bytes"))
SHARE = Column("share", "share")
COLUMNS = {
    "train": (
        *(Column("bytes", "bytes"), Column("saved", "bytes"), Column("outputs", "count")),
        *(Column("weights", "bytes", spare=True), Column("states", "bytes", spare=True)),
    ),
    "cache": (*SIZE, Column("weights", "bytes", spare=True), Column("cache", "bytes", spare=True)),
    "outputs": (
        *(Column("outputs", "count"), Column("", "bytes"), Column("parameters", "count")),
        Column("weights", "bytes", spare=True),
    ),
}


@dataclass(frozen=True)
class LayerTable:
    """`whole` is what the bytes of layers are shares of."""

    rows: tuple[Row, ...]
    trains: bool
    whole: int
    depth: int

    @property
    def kind(self) -> str:
        return kind_of(self.rows, trains=self.trains)

    def table(self) -> Table:
        return Table((*LAYER, *COLUMNS[self.kind], SHARE), tuple(self._lines()))

    def _lines(self) -> Iterator[Line]:
        for row, depth in outline(self.rows, self._size):
            if self._size(row) and depth < self.depth:
                yield Line((row.title, row.times, *self._cells(row), self._share(row)), depth)

    def _size(self, row: Row) -> int:
        return row.bytes + (row.outputs if self.kind != "cache" else 0)

    def _cells(self, row: Row) -> tuple[int, ...]:
        cells: dict[str, Callable[[Row], tuple[int, ...]]] = {"train": _trained, "cache": _cached, "outputs": _made}
        return cells[self.kind](row)

    def _share(self, row: Row) -> float:
        """Of what is shown first."""
        part, whole = (row.outputs, self.rows[0].outputs) if self.kind == "outputs" else (row.bytes, self.whole)
        return part / whole if whole else 0.0


def kind_of(rows: Sequence[Row], *, trains: bool) -> str:
    """Which columns there are; of a list of tensors it is not known what they compute."""
    if trains:
        return "train"
    makes = any(row.outputs for row in rows) and not any(row.cache for row in rows)
    return "outputs" if makes else "cache"


def _trained(row: Row) -> tuple[int, ...]:
    part = row.parts
    states = sum(part[kind] for kind in STATES)
    return row.bytes, part["activations"] + part["logits"], row.outputs, part["weights"], states


def _cached(row: Row) -> tuple[int, ...]:
    return row.bytes, row.bytes, row.parts["weights"], row.cache


def _made(row: Row) -> tuple[int, ...]:
    return row.outputs, row.output_bytes, row.parameters, row.parts["weights"]
