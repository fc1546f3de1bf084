"""The comparison of softmax attention with kernel attention, as tables and as a record."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from archcalc.analyze.kernel.measures import Cost, Elements
from archcalc.report.base import SCHEMA_VERSION, Column, Flag, Line, Report, Table

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Held:
    """Elements in memory, and from which length on there are fewer of them than with softmax."""

    elements: Elements
    length: int
    width: int  # bytes of an element
    less_from: int | None

    @property
    def number(self) -> int:
        return self.elements.at(self.length)

    @property
    def bytes(self) -> int:
        return self.number * self.width


@dataclass(frozen=True)
class Row:
    """One feature map in one attention, beside softmax there; all costs are exact FLOPs of matrix products."""

    attention: str
    feature: str
    used: bool  # by the model as it is
    heads: int  # that share a key-value head: what is costed
    features: int | None
    length: int
    products: Cost
    normaliser: Cost | None
    limit: Fraction | None  # cheaper than softmax for N > limit
    memory: Held
    cache: Held | None  # None where nothing is decoded

    def cheaper_from(self, *, causal_half: bool = False, with_normaliser: bool = False) -> int | None:
        """The first length at which the products cost less than softmax attention's, or than half of them."""
        if self.limit is None or self.normaliser is None:
            return None
        more = Fraction(sum(self.normaliser.factors), sum(self.products.factors)) if with_normaliser else 0
        return int(self.limit * (1 + more) * (2 if causal_half else 1)) + 1

    def record(self) -> dict[str, Any]:
        normaliser = self.normaliser.at(self.length) if self.normaliser else 0
        return {
            "attention": self.attention,
            "feature": self.feature,
            "used": self.used,
            "heads": self.heads,
            "features": self.features,
            "length": self.length,
            "flops": self.products.at(self.length),
            "normaliser_flops": normaliser,
            "worked": self.products.worked(),
            "cheaper_above": float(self.limit) if self.limit is not None else None,
            "cheaper_from": self.cheaper_from(),
            "cheaper_from_causal_half": self.cheaper_from(causal_half=True),
            "cheaper_from_with_normaliser": self.cheaper_from(with_normaliser=True),
            **_held("memory", self.memory),
            **_held("cache", self.cache),
        }


@dataclass(frozen=True)
class KernelReport(Report):
    """The comparison, attention by attention."""

    command: ClassVar[str] = "kernel"
    rows: tuple[Row, ...]

    def answer(self) -> str:
        row = next((row for row in self.rows if row.used and row.limit is not None), self.rows[1])
        limit, first = _number(row.limit), row.cheaper_from()
        return f"{row.feature} is cheaper than softmax for N > {limit}: from {first:,} positions on"

    def table(self) -> Table:
        labels = ("C", "FLOPs", "normaliser", "from N", "from N, half")
        return Table((Column("attention", "name"), *(Column(label, "count") for label in labels)), self._lines(_costs))

    def more(self) -> tuple[Table, ...]:
        labels = ("elements", "from N", "cache", "cache from N")
        columns = (Column("memory", "name"), *(Column(label, "count") for label in labels))
        return (Table(columns, self._lines(_held_line)),)

    def _lines(self, line: Callable[[Row], Line]) -> tuple[Line, ...]:
        """The rows of each attention under its name."""
        lines: list[Line] = []
        for attention, rows in groupby(self.rows, key=lambda row: row.attention):
            inner = [line(row) for row in rows]
            lines.append(Line((attention, *[None] * (len(inner[0].cells) - 1)), heading=True))
            lines += inner
        return tuple(lines)

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "assumptions": self.assumed(),
            "rows": [row.record() for row in self.rows],
        }


def _costs(row: Row) -> Line:
    normaliser = row.normaliser.at(row.length) if row.normaliser else None
    costs = (row.features, row.products.at(row.length), normaliser)
    cells = (row.feature, *costs, row.cheaper_from(), row.cheaper_from(causal_half=True))
    return Line(cells, 1, _worked(row), flag=_flag(row))


def _held_line(row: Row) -> Line:
    cached = (row.cache.number, row.cache.less_from) if row.cache else (None, None)
    kept = f"; cache {row.cache.elements.worked()}" if row.cache else ""
    cells = (row.feature, row.memory.number, row.memory.less_from, *cached)
    return Line(cells, 1, row.memory.elements.worked() + kept, flag=_flag(row))


def _flag(row: Row) -> Flag:
    return "used" if row.used else ""


def _worked(row: Row) -> str:
    if row.limit is None:
        return row.products.worked()
    return f"{row.products.worked()}, less than softmax for N > {_number(row.limit)}"


def _number(limit: Fraction | None) -> str:
    """A whole number as it is, any other as a whole number and a fraction."""
    whole, rest = divmod(limit or Fraction(0), 1)
    return f"{whole:,} {rest}" if rest else f"{whole:,}"


def _held(name: str, held: Held | None) -> dict[str, Any]:
    keys = ("elements", "bytes", "worked", "less_from")
    found = (held.number, held.bytes, held.elements.worked(), held.less_from) if held else (None,) * len(keys)
    return {f"{name}_{key}": value for key, value in zip(keys, found, strict=True)}
