"""What stands on the page of a worksheet, and on that of its key, in the order of reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.core.visible import visible

if TYPE_CHECKING:
    from archcalc.exercises.blanks import Blank
    from archcalc.exercises.sheet import Section, Sheet

Cells = tuple[str, ...]  # a cell may have several lines


@dataclass(frozen=True)
class Grid:
    """A table: `roomy` where people write into it."""

    heads: Cells
    rows: tuple[Cells, ...]
    roomy: bool = False


@dataclass(frozen=True)
class Part:
    title: str
    task: str
    grid: Grid


@dataclass(frozen=True)
class Page:
    kind: str  # Worksheet, Key
    title: str
    described: str
    givens: Grid
    conventions: tuple[str, ...]
    parts: tuple[Part, ...]
    to_sign: bool  # lines for a name and a date


def student_page(sheet: Sheet) -> Page:
    parts = tuple(_part(section, _open(section)) for section in sheet.sections)
    return _page(sheet, "Worksheet", parts, to_sign=True)


def key_page(sheet: Sheet) -> Page:
    parts = tuple(_part(section, _solved(section)) for section in sheet.sections)
    return _page(sheet, "Key", parts, to_sign=False)


def _page(sheet: Sheet, kind: str, parts: tuple[Part, ...], *, to_sign: bool) -> Page:
    givens = Grid(("given", "value", "meaning"), tuple(tuple(map(visible, one)) for one in sheet.given))
    conventions = tuple(map(visible, sheet.conventions))
    return Page(kind, visible(sheet.title), visible(sheet.described), givens, conventions, parts, to_sign)


def _part(section: Section, grid: Grid) -> Part:
    return Part(section.title, section.task, grid)


def _open(section: Section) -> Grid:
    """Shapes need no working."""
    heads = ("", "figure", "answer") if section.question == "shapes" else ("", "figure", "working", "answer")
    blank: Cells = ("",) * (len(heads) - 2)
    rows = tuple((one.number, visible(one.label), *blank) for one in section.blanks)
    return Grid(heads, rows, roomy=True)


def _solved(section: Section) -> Grid:
    rows = tuple((one.number, visible(one.label), _working(one), _answer(one)) for one in section.blanks)
    return Grid(("", "figure", "working", "answer"), rows)


def _working(blank: Blank) -> str:
    """By the names of the sizes, where that says more than the numbers, and in numbers."""
    lines = blank.working.split("\n")
    words = blank.step.count.worked(names=True) if blank.step else blank.working
    if words != blank.working:
        lines = [words, f"= {blank.working}"]
    return "\n".join(map(visible, lines))


def _answer(blank: Blank) -> str:
    return f"{blank.answer:,}" if isinstance(blank.answer, int) else " × ".join(map(str, blank.answer))
