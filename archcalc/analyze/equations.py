"""The equations of a model's layers as tables and as data, with the shape of every symbol.

Layers with the same equations and sizes share a block. Below them stands how others write the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import walk
from archcalc.report.table import Column, Line, Table, heading

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from archcalc.core.equations import Elsewhere, Shape, System
    from archcalc.core.ir import Module

NONE = Assumption(Topic.TABLE, "no equations: only recurrent layers have them")
SIGNS = Assumption(
    Topic.TABLE,
    "equations of one example at step t: · is a matrix product, ∗ element by element, [ ; ] one vector below another",
)
COLUMNS = (Column[Any]("", "equation", "name"), Column[Any]("", "shape", "shape"))


class Block(NamedTuple):
    """The equations that one or several modules have."""

    title: str  # the first of these modules, and how many more: `layer 1, direction, LSTM step and 1 more`
    paths: tuple[str, ...]
    system: System

    def record(self) -> dict[str, Any]:
        elsewhere = self.system.elsewhere
        return {
            "paths": list(self.paths),
            "equations": [{"signal": each.signal, **each.record()} for each in self.system.equations],
            "elsewhere": elsewhere.record() if elsewhere else None,
        }


def blocks(root: Module) -> tuple[Block, ...]:
    found: dict[System, list[Module]] = {}
    for module, _ in walk(root):
        if module.words.equations:
            found.setdefault(module.words.equations, []).append(module)
    made = []
    for system, same in found.items():
        first = ", ".join(reversed([above.words.title for above in same[0].ancestry if above.parent]))
        title = f"{first} and {len(same) - 1} more" if len(same) > 1 else first
        made.append(Block(title, tuple(one.path for one in same), system))
    return tuple(made)


def notes(found: Sequence[Block]) -> tuple[Assumption, ...]:
    """How to read the tables."""
    if not found:
        return (NONE,)
    return SIGNS, *(Assumption(Topic.TABLE, each.about) for each in _elsewhere(found))


def tables(found: Sequence[Block]) -> tuple[Table, ...]:
    if not found:
        return ()
    made = [Table(COLUMNS, tuple(line for block in found for line in _lines(block)))]
    for each in _elsewhere(found):
        first, *others = each.heads
        columns = (Column[Any]("", first, "name"), *(Column[Any]("", head, "text") for head in others))
        made.append(Table(columns, tuple(Line(row) for row in each.rows)))
    return tuple(made)


def _elsewhere(found: Sequence[Block]) -> list[Elsewhere]:
    """Each once."""
    return list(dict.fromkeys(block.system.elsewhere for block in found if block.system.elsewhere))


def _lines(block: Block) -> Iterator[Line]:
    """The equations with the shape of what they compute; then the symbols that they only read, by shape."""
    equations = block.system.equations
    yield heading(block.title, COLUMNS)
    for each in equations:
        yield Line((each.text, each.left.shape), 1)
    computed = {each.left for each in equations}
    by_shape: dict[Shape, list[str]] = {}
    for symbol in dict.fromkeys(symbol for each in equations for symbol in each.symbols):
        if symbol not in computed:
            by_shape.setdefault(symbol.shape, []).append(symbol.text)
    for shape, names in by_shape.items():
        yield Line((", ".join(names), shape), 1)
