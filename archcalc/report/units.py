"""Units: how values are written, the same in every format. A unit that is not here is declared where it is needed:

    unit("joule", format=lambda value: f"{value:,.0f} J")

Reports hold values; a column or a figure names the unit of its value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from archcalc.spec.units import binary_bytes, flops, rounded

SIMPLE = 12  # the largest denominator that is read at a glance

Format = Callable[[Any], str]
Tone = Literal["", "good", "fair", "bad"]  # how a verdict is coloured
GLYPHS = "█▓▒░▪▫"  # the parts of a bar, in their order
FREE, LIMIT = "·", "│"
WIDTH, BRIEF_WIDTH = 12, 8


class Quantity(NamedTuple):
    """A cell with a unit of its own, in a column of facts."""

    value: Any
    unit: str


class Unit(NamedTuple):
    """`format` writes a value in a table, `exact` and `roughly` as a figure: `201,466,160` and `201.5 M`."""

    format: Format = str
    left: bool = False  # aligned to the left, as words are; numbers stand at the right
    missing: str = ""  # what stands in a table where there is no value
    exact: Format | None = None  # as in a table, where it is not given
    roughly: Format | None = None
    rough_from: int = 1000  # smaller figures are read as they are
    ends: bool = False  # its end tells most: where it is too long, its middle is left out
    brief: Format | None = None  # in a terminal that is too narrow for the table
    plain: Callable[[Any], Any] | None = None  # what programs read; the value itself, where it is not given
    tone: Callable[[Any], Tone] | None = None  # how a value is coloured where there is colour


def unit(name: str, format: Format = str, **traits: Any) -> None:
    """Declare a unit; `traits` are the further fields of `Unit`."""
    UNITS[name] = Unit(format, **traits)


class Units(dict[str, Unit]):
    """Units by name."""

    def __missing__(self, name: str) -> Unit:
        raise LookupError(f"no unit is called {name}: declare it with archcalc.report.units.unit")


def words(value: Any, name: str) -> str:
    """A value of a table; nothing where there is none."""
    if isinstance(value, Quantity):
        value, name = value
    if value is None:
        return UNITS[name].missing
    return "" if value == "" else UNITS[name].format(value)


def _count(value: Any) -> str:
    """Digits in groups; what was written as a text stays as it is."""
    return f"{value:,}" if isinstance(value, int) else str(value)


def _share(value: float) -> str:
    return "<0.1 %" if 0 < value < 0.0005 else f"{100 * value:.1f} %"


def _ratio(value: Fraction | float) -> str:
    """`3/4` and `2` are exact; `0.940` is rounded."""
    exact = Fraction(value)
    if exact.denominator <= SIMPLE and exact.numerator < SIMPLE**2:
        return str(exact)
    return f"{float(exact):,.3f}" if exact >= Fraction(1, 100) else f"{float(exact):.2g}"


def _change(value: int) -> str:
    return f"{value:+,}".replace("-", "−") if value else "="


def stacked(parts: Sequence[int], limit: int, width: int = WIDTH) -> str:
    """A bar of several parts against a limit, in characters that differ without colour: `████▓▓▒·······│` fits, with
    room to spare; `██████████│▓▓▒▒` does not."""
    needed, room = sum(parts), width - 1
    scale = max(needed, limit, 1)
    used = max(round(needed * room / scale), 1 if needed else 0)
    cells = [part * used // (needed or 1) for part in parts]
    losses = sorted(range(len(parts)), key=lambda index: -(parts[index] * used % (needed or 1)))
    for index in losses[: used - sum(cells)]:  # what rounding leaves goes to those that lost most by it
        cells[index] += 1
    bar = "".join(glyph * number for glyph, number in zip(GLYPHS, cells, strict=False)).ljust(room, FREE)
    place = min(round(limit * room / scale), room - (needed > limit))
    return bar[:place] + LIMIT + bar[place:]


UNITS = Units(
    {
        "": Unit(),  # of what programs read and people do not see
        "name": Unit(left=True),
        "text": Unit(left=True),
        "path": Unit(left=True, ends=True),
        "shape": Unit(lambda value: " × ".join(map(str, value)), left=True),
        "count": Unit(_count, roughly=rounded),
        "flops": Unit(_count, roughly=flops),
        "work": Unit(flops, missing="–"),  # FLOPs, to read at a glance
        "bound": Unit(_count, missing="–"),
        "times": Unit(lambda value: f"× {value:,}" if value != 1 else ""),
        "share": Unit(_share),
        "change": Unit(_change),
        "ratio": Unit(_ratio, plain=float),
        "bytes": Unit(binary_bytes, exact=_count, roughly=binary_bytes),
        "binary": Unit(binary_bytes),
        "room": Unit(binary_bytes),  # what is left, or missing
        # parts, and the limit that they are drawn against
        "stack": Unit(
            lambda value: stacked(*value), left=True, brief=lambda value: stacked(value[0], value[1], BRIEF_WIDTH)
        ),
    }
)
