"""What a table of `archcalc fit --table` comes to, in one sentence.

bf16 fits from 24 GB, q8_0 from 12 GB, q6_k from 8 GB
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from archcalc.analyze.fit.matrix_axes import Value
from archcalc.analyze.fit.matrix_cell import Cell, Refusal
from archcalc.analyze.fit.verdict import Verdict
from archcalc.run.device import DeviceGroup

GIB = 2**30
NARROWING = ("weights", "kv-dtype")  # axes from wide to narrow, of which each is told that needs less of a card
Answered = tuple[Value, Cell | Refusal]


def size(card: DeviceGroup) -> str:
    """`24 GB`, `2 × 24 GB`: as cards are sold."""
    sizes = [round(device.memory.bytes / GIB) for _, device in card.each]
    if len(set(sizes)) > 1:
        return f"{' + '.join(map(str, sizes))} GB"
    return f"{sizes[0]} GB" if len(sizes) == 1 else f"{len(sizes)} × {sizes[0]} GB"


def on_cards(axis: str, lines: Sequence[tuple[Value, Sequence[Answered]]], cards: Mapping[str, DeviceGroup]) -> str:
    """The smallest card for each value of the other axis; `lines` have the cells of each by card. From wide to narrow,
    a value is told that needs less of a card than those before."""
    by_size, none, least = dict[str, list[str]](), list[str](), 0
    for value, cells in lines:
        fitting = [cards[str(name)] for name, cell in cells if _fits(cell)]
        if not fitting:
            none.append(_words(axis, value))
            continue
        smallest = min(fitting, key=_memory)
        if axis not in NARROWING or not least or _memory(smallest) < least:
            by_size.setdefault(size(smallest), []).append(_words(axis, value))
            least = _memory(smallest)
    if not by_size:
        return f"fits none of these {len(cards)} devices"
    verb = "fits" if len(next(iter(by_size.values()))) == 1 else "fit"
    told = ", ".join(f"{', '.join(values)} {{}}from {size}" for size, values in by_size.items())
    left = f"; on none of these {', '.join(none)}" if none and axis not in NARROWING else ""
    return f"{told.format(f'{verb} ', *[''] * len(by_size))}{left}"


def _memory(card: DeviceGroup) -> int:
    """Of all its devices, as they are sold."""
    return sum(device.memory.bytes for _, device in card.each)


def counted(cells: Iterable[Cell | Refusal], where: str) -> str:
    """How many of all fit on one device."""
    found = Counter(cell.verdict for cell in cells if isinstance(cell, Cell))
    tight, unknown = found[Verdict.TIGHT], found[Verdict.CANNOT_SAY]
    said = [f"{found[Verdict.FITS]} of {found.total()} fit on {where}"]
    said += [f"{tight} tight"] if tight else []
    said += [f"of {unknown} archcalc cannot say"] if unknown else []
    return ", ".join(said)


def _fits(cell: Cell | Refusal) -> bool:
    return isinstance(cell, Cell) and cell.verdict is Verdict.FITS


def _words(axis: str, value: Value) -> str:
    """A number with what it is a number of: `batch 8`."""
    return f"{axis} {value:,}" if isinstance(value, int) else worded(axis, value)


def worded(axis: str, value: Value) -> str:
    """As a heading: a plan for one GPU says so."""
    if isinstance(value, int):
        return f"{value:,}"
    return "1 GPU" if axis == "plan" and value == "1" else value
