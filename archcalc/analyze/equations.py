"""The equations of a model's layers as tables and as data, with the shape of every symbol.

Layers with the same equations and sizes share a block. Below them stands how others write the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import walk
from archcalc.core.tree import ancestors
from archcalc.report.table import Column, Line, Table, heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from archcalc.core.equations import Elsewhere, Equation, Shape, System
    from archcalc.core.ir import Module

NONE = Assumption(Topic.TABLE, "no equations: only recurrent layers have them")
SIGNS = Assumption(
    Topic.TABLE,
    "equations of one example at step t: · is a matrix product, ∗ element by element, [ ; ] one vector below another",
)
COLUMNS = (Column[Any]("", "equation", "name"), Column[Any]("", "shape", "shape"))


@dataclass(frozen=True)
class Block:
    """The equations that one or several modules have."""

    first: str  # of these modules, as a heading
    paths: tuple[str, ...]
    system: System

    @property
    def title(self) -> str:
        first, more = self.first, len(self.paths) - 1
        return f"{first} and {more} more" if more else first

    def record(self) -> dict[str, Any]:
        elsewhere = self.system.elsewhere
        return {
            "paths": list(self.paths),
            "equations": [{"signal": each.signal, **each.record()} for each in self.system.equations],
            "elsewhere": elsewhere.record() if elsewhere else None,
        }


def _place(module: Module) -> str:
    """`layer 1, direction, LSTM step`."""
    return ", ".join(reversed([above.words.title for above in ancestors(module) if above.parent]))


def blocks(root: Module) -> tuple[Block, ...]:
    found: dict[System, list[Module]] = {}
    for module, _ in walk(root):
        if module.words.equations:
            found.setdefault(module.words.equations, []).append(module)
    return tuple(Block(_place(same[0]), tuple(one.path for one in same), system) for system, same in found.items())


def notes(found: Sequence[Block]) -> tuple[Assumption, ...]:
    """How to read the tables."""
    if not found:
        return (NONE,)
    return SIGNS, *(Assumption(Topic.TABLE, each.about) for each in _elsewhere(found))


def tables(found: Sequence[Block]) -> tuple[Table, ...]:
    if not found:
        return ()
    lines = tuple(line for block in found for line in _lines(block))
    return Table(COLUMNS, lines), *(_compared(each) for each in _elsewhere(found))


def _elsewhere(found: Sequence[Block]) -> list[Elsewhere]:
    """Each once."""
    return list(dict.fromkeys(block.system.elsewhere for block in found if block.system.elsewhere))


def _compared(each: Elsewhere) -> Table:
    first, *others = each.heads
    columns = (Column[Any]("", first, "name"), *(Column[Any]("", head, "text") for head in others))
    return Table(columns, tuple(Line(row) for row in each.rows))


def _lines(block: Block) -> Iterator[Line]:
    """The equations with the shape of what they compute; then the symbols that they only read, by shape."""
    yield heading(block.title, COLUMNS)
    for each in block.system.equations:
        yield Line((each.text, each.left.shape), 1)
    for shape, names in _only_read(block.system.equations).items():
        yield Line((", ".join(names), shape), 1)


def _only_read(equations: Sequence[Equation]) -> dict[Shape, list[str]]:
    computed = {each.left for each in equations}
    by_shape: dict[Shape, list[str]] = {}
    for symbol in dict.fromkeys(symbol for each in equations for symbol in each.symbols):
        if symbol not in computed:
            by_shape.setdefault(symbol.shape, []).append(symbol.text)
    return by_shape
