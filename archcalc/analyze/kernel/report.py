"""The comparison of softmax attention with kernel attention, as tables and as a record."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from archcalc.analyze.kernel.measures import Cost, Elements
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, heading, in_tables, keys

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

    @property
    def flops(self) -> int:
        return self.products.at(self.length)

    @property
    def normaliser_flops(self) -> int | None:
        return self.normaliser.at(self.length) if self.normaliser else None


@dataclass(frozen=True)
class KernelReport(Report):
    """The comparison, attention by attention."""

    command: ClassVar[str] = "kernel"
    rows: tuple[Row, ...]

    def answer(self) -> str:
        row = next((row for row in self.rows if row.used and row.limit is not None), self.rows[1])
        limit, first = _number(row.limit), row.cheaper_from()
        return f"{row.feature} is cheaper than softmax for N > {limit}: from {first:,} positions on"

    def columns(self) -> tuple[Column[Row], ...]:
        return (
            Column("attention"),
            Column("feature", "attention", "name"),
            *keys("used", "heads"),
            Column("features", "C", "count"),
            Column("length"),
            Column("flops", "FLOPs", "count"),
            Column("normaliser_flops", get=lambda row: row.normaliser_flops or 0),
            Column("", "normaliser", "count", "normaliser_flops"),
            Column("worked", get=lambda row: row.products.worked()),
            Column("cheaper_above", get=lambda row: None if row.limit is None else float(row.limit)),
            Column("cheaper_from", "from N", "count", Row.cheaper_from),
            Column("cheaper_from_causal_half", "from N, half", "count", lambda row: row.cheaper_from(causal_half=True)),
            Column("cheaper_from_with_normaliser", get=lambda row: row.cheaper_from(with_normaliser=True)),
        )

    def records(self) -> list[dict[str, Any]]:
        rows = zip(super().records(), self.rows, strict=True)
        return [{**record, **_held("memory", row.memory), **_held("cache", row.cache)} for record, row in rows]

    def table(self) -> Table:
        return self._under_headings(in_tables(self.columns()), _costs)

    def more(self) -> tuple[Table, ...]:
        return (self._under_headings(MEMORY, _elements),)

    def _under_headings(self, columns: tuple[Column[Row], ...], worked: Callable[[Row], str]) -> Table:
        """The rows of each attention under its name."""
        lines: list[Line] = []
        for attention, rows in groupby(self.rows, key=lambda row: row.attention):
            lines.append(heading(attention, columns))
            for row in rows:
                lines.append(Line(cells_of(columns, row), 1, worked(row), flag="used" if row.used else ""))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {"model": self.model}


MEMORY: tuple[Column[Row], ...] = (
    Column("", "memory", "name", "feature"),
    Column("", "elements", "count", "memory.number"),
    Column("", "from N", "count", "memory.less_from"),
    Column("", "cache", "count", lambda row: row.cache and row.cache.number),
    Column("", "cache from N", "count", lambda row: row.cache and row.cache.less_from),
)


def _costs(row: Row) -> str:
    worked = row.products.worked()
    return worked if row.limit is None else f"{worked}, less than softmax for N > {_number(row.limit)}"


def _elements(row: Row) -> str:
    kept = f"; cache {row.cache.elements.worked()}" if row.cache else ""
    return row.memory.elements.worked() + kept


def _number(limit: Fraction | None) -> str:
    """A whole number as it is, any other as a whole number and a fraction."""
    whole, rest = divmod(limit or Fraction(0), 1)
    return f"{whole:,} {rest}" if rest else f"{whole:,}"


def _held(name: str, held: Held | None) -> dict[str, Any]:
    return {
        f"{name}_elements": held and held.number,
        f"{name}_bytes": held and held.bytes,
        f"{name}_worked": held and held.elements.worked(),
        f"{name}_less_from": held and held.less_from,
    }
