"""Tables of raw values. A column is declared once: programs read it by its key, people under its label.

Column("each", "one", "count")                     in every format
Column("path")                                     for programs alone: a unit is for people
Column("", "share", "share", "each", whole=total)  for people alone: it has no key
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

from archcalc.core.assumptions import Assumption
from archcalc.core.count import Count
from archcalc.core.expression import Leaf
from archcalc.report.units import UNITS, Tone

if TYPE_CHECKING:
    from archcalc.report.picture import Picture

Flag = Literal["", "estimate", "used", "right", "wrong", "corrected", "rounded", "unreadable"]
R = TypeVar("R")


@dataclass(frozen=True)
class Column(Generic[R]):
    """One value of every row: the attribute of its key, or what `get` names (`room.capacity`) or finds."""

    key: str
    label: str = ""
    unit: str = ""
    get: str | Callable[[R], Any] = ""
    whole: float | None = None  # what the value is a share of
    shown: bool = True  # whether tables have it
    spare: bool = False  # left out, with a word about it, where the terminal is too narrow
    brief: str = ""  # its label where the terminal is too narrow for the table
    about: Assumption | None = None  # what explains it, which is left out with it

    def of(self, row: R) -> Any:
        found = self.get if callable(self.get) else attrgetter(self.get or self.key)
        return found(row) if self.whole is None else found(row) / (self.whole or 1)

    def plain(self, row: R) -> Any:
        """The value as programs read it."""
        value, made = self.of(row), UNITS[self.unit].plain
        return made(value) if made and value is not None else value

    @property
    def left(self) -> bool:
        return UNITS[self.unit].left


class Working(NamedTuple):
    """How a number is worked out, from what it is called to what it comes to."""

    number: Count
    terms: tuple[str, ...]  # its name in sums; those of all where equal parts share a line
    quantity: str  # the letter that stands for such numbers in formulas: P for parameters, F for FLOPs
    names: bool = False  # by the names of dims instead of their sizes

    def text(self) -> str:
        """In one line; empty where that would only be the number again."""
        only = self.number.expression
        is_number = isinstance(only, Leaf) and not (self.names and only.subtotal)
        return "" if is_number else self.number.worked(names=self.names)


class Matrix(NamedTuple):
    """Numbers in rows and columns, as a note."""

    name: str
    rows: tuple[tuple[float, ...], ...]


class Line(NamedTuple):
    """A line of the table: values for its columns, how deep it is indented, and words to print beneath it."""

    cells: tuple[Any, ...]
    depth: int = 0
    below: str = ""
    heading: bool = False  # groups the lines under it
    flag: Flag = ""  # what is to be known of it at a glance
    working: Working | None = None  # of its number, where that was asked for: printed beneath it, or as a formula
    tone: Tone = ""  # colours the mark before its name and its last cell
    tones: tuple[Tone, ...] = ()  # of each cell, where they differ
    quiet: bool = False  # says more of the heads above it
    notes: tuple[str | Matrix, ...] = ()  # sentences beneath it, a line each, and matrices


class Table(NamedTuple):
    """Every line has a cell for each column, and none besides."""

    columns: tuple[Column[Any], ...]
    lines: tuple[Line, ...]
    picture: Picture | None = None  # of the same values, drawn above it where there are no pages


def keys(*names: str) -> tuple[Column[Any], ...]:
    """Attributes that programs alone read."""
    return tuple(map(Column, names))


def in_tables(columns: Iterable[Column[R]]) -> tuple[Column[R], ...]:
    """Those that people see."""
    return tuple(column for column in columns if column.unit and column.shown)


def cells_of(columns: Iterable[Column[R]], row: R) -> tuple[Any, ...]:
    return tuple(column.of(row) for column in columns)


def table_of(columns: Iterable[Column[R]], rows: Iterable[R]) -> Table:
    """A line for each row."""
    shown = in_tables(columns)
    cells = [cells_of(shown, row) for row in rows]
    return Table(shown, tuple(Line(each, tones=_tones(shown, each)) for each in cells))


def _tones(columns: Iterable[Column[Any]], cells: tuple[Any, ...]) -> tuple[Tone, ...]:
    """Of each cell; nothing where no column has a colour."""
    toned = [UNITS[column.unit].tone for column in columns]
    if not any(toned):
        return ()
    return tuple(tone(cell) if tone else "" for tone, cell in zip(toned, cells, strict=True))


def heading(title: str, columns: Sequence[Column[Any]], depth: int = 0, notes: tuple[str, ...] = ()) -> Line:
    """What stands above lines that belong together: in the first column, with nothing in the others."""
    return Line((title, *[None] * (len(columns) - 1)), depth, heading=True, notes=notes)


def records_of(columns: Iterable[Column[R]], rows: Iterable[R]) -> list[dict[str, Any]]:
    """The rows as programs read them."""
    read = [column for column in columns if column.key]
    return [{column.key: column.plain(row) for column in read} for row in rows]
