"""How a cell of `archcalc fit --table` is written: at length, and briefly where a terminal is narrow.

✓ 131,072   ≈ 419.5 MiB   ✗ −7.89 GiB            131k   ≈0.4   ✗7.9
"""

from __future__ import annotations

from archcalc.analyze.fit.matrix_cell import BATCH, CONTEXT, MEMORY, Cell, Refusal
from archcalc.analyze.fit.verdict import Verdict
from archcalc.report.units import unit
from archcalc.spec.units import binary_bytes

GIB = 2**30
ANY = "any"  # size: nothing bounds it
NONE = "–"  # there is no such run
_SPARE = "; ≈ tight, with GiB left; ✗ GiB missing"
MEANS = {
    CONTEXT: f"in each cell the longest context in tokens that surely fits{_SPARE}",
    BATCH: f"in each cell the largest batch that surely fits{_SPARE}",
    MEMORY: "in each cell GiB needed: ✓ fits, ≈ tight, ? cannot say, ✗ does not fit",
}
SOLD = "sold"  # how much memory a card is sold with
UNIT = {CONTEXT: "grown", BATCH: "grown", MEMORY: "fitting"}
_BEGINNINGS = ("rtx-", "rx-")  # of cards that are known by their numbers
Any = Cell | Refusal


def growth(cell: Cell) -> str | None:
    """How far it grows, in digits; None where not even what was asked for surely fits."""
    if cell.growth is None or cell.verdict is Verdict.NOT:
        return None
    most = cell.growth.most
    if most is None:
        return ANY
    return f"{most:,}" if most >= (cell.growth.asked or 1) else None


def at_length(cell: Any) -> str:
    if isinstance(cell, Refusal):
        return NONE
    return f"{cell.verdict.mark} {growth(cell) or binary_bytes(cell.left)}"


def briefly(cell: Any) -> str:
    """What fits needs no mark."""
    if isinstance(cell, Refusal):
        return NONE
    grown = growth(cell)
    said = gib(abs(cell.left)) if grown is None else in_thousands(grown)
    return f"{cell.verdict.mark if cell.verdict is not Verdict.FITS else ''}{said}"


def gib(size: int) -> str:
    """`−7.9`, `−644`."""
    number = abs(size) / GIB
    digits = f"{number:.1f}" if number < 100 else f"{number:,.0f}"
    return f"−{digits}" if size < 0 else digits


def in_thousands(digits: str) -> str:
    """`131k` for 131,072: never more than there are."""
    number = int(digits.replace(",", "")) if digits != ANY else 0
    return f"{number // 1000:,}k" if number >= 10_000 else digits.replace(",", "")


def needed(cell: Any) -> str:
    return NONE if isinstance(cell, Refusal) else f"{cell.required / GIB:,.1f} {cell.verdict.mark}"


def _card(name: str) -> str:
    """`5060ti` for rtx-5060-ti-16gb: its memory stands beneath."""
    for beginning in _BEGINNINGS:
        name = name.removeprefix(beginning)
    words = [word for word in name.split("-") if not word.removesuffix("gb").isdecimal() or not word.endswith("gb")]
    return "".join(words) or name


def _tokens(digits: str) -> str:
    return in_thousands(digits) if digits.replace(",", "").isdecimal() else digits


HEADINGS = {"gpu": _card, "context": _tokens, "batch": _tokens}  # of columns, briefly
unit("fitting", needed)
unit(SOLD, brief=lambda size: size.replace(" ", ""))
unit("grown", at_length, brief=briefly)
