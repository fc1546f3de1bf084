"""What a table of `archcalc fit --table` takes for granted: what all of its cells do, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archcalc.analyze.fit.matrix_axes import Value
from archcalc.analyze.fit.matrix_cell import Cell, Refusal
from archcalc.analyze.fit.notes import CAPACITY
from archcalc.core.assumptions import Assumption, Topic

Rows = Sequence[tuple[Value, tuple[Cell | Refusal, ...]]]
EACH = "the command of a cell says its own"
BANDS = Assumption(Topic.ESTIMATE, f"error bands differ by what runs a cell and where: {EACH}")


def notes(rows: Rows, across: Sequence[Value]) -> Iterator[Assumption]:
    every = [cell for _, cells in rows for cell in cells if isinstance(cell, Cell)]
    yield from _refused(rows, across)
    bands = list(dict.fromkeys(cell.band for cell in every if cell.band))
    yield from bands if len(bands) == 1 else ()
    if len(bands) > 1:
        yield BANDS
    engines = list(dict.fromkeys(cell.engine for cell in every if cell.engine))
    if len(engines) > 1:
        yield Assumption(Topic.ENGINE, f"each cell by what is usual there: {', '.join(engines)}", option="--engine")
    first, *others = every
    yield from (note for note in dict.fromkeys(first.notes) if all(note in other.notes for other in others))
    yield CAPACITY


def _refused(rows: Rows, across: Sequence[Value]) -> Iterator[Assumption]:
    """Each reason once, with the cells that it is about."""
    found: dict[str, list[str]] = {}
    for value, cells in rows:
        for other, cell in zip(across, cells, strict=True):
            if isinstance(cell, Refusal):
                found.setdefault(cell.fact, []).append(f"{value} × {other}")
    for fact, places in found.items():
        more = f" and {len(places) - 2} more" if len(places) > 2 else ""
        yield Assumption(Topic.DEVICE, f"– {', '.join(places[:2])}{more}: {fact}")
