"""Memory over a step, in a terminal: a stepped area in block characters, with the peak marked and named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from archcalc.core.visible import visible
from archcalc.render.style import BOLD, CYAN, DIM, styled
from archcalc.report.picture import Skyline, Stretch
from archcalc.spec.units import decimal_bytes

ROWS = 8
WIDEST = 96  # columns: a step has few stretches
EIGHTHS = " ▁▂▃▄▅▆▇█"
THROUGHOUT = "░"


def in_text(skyline: Skyline, width: int) -> list[str]:
    highest = skyline.stretches[skyline.peak].height
    ticks = {0: decimal_bytes(highest), ROWS // 2: decimal_bytes(highest // 2)}
    left = max(map(len, ticks.values()))
    wide = max(min(width - left - 2, WIDEST), 1)
    columns = _columns(skyline.stretches, wide)
    levels = [max(one.height for one in each) * ROWS * 8 / max(highest, 1) for each in columns]
    floor = skyline.throughout * ROWS // max(highest, 1)  # whole rows
    rows = [_row(levels, ROWS - 1 - row, floor) for row in range(ROWS)]
    legend = f"{THROUGHOUT} there throughout: {decimal_bytes(skyline.throughout)}"
    sides = {True: styled("┤", DIM), False: styled("│", DIM)}
    return [
        f"{'':>{left + 2}}{styled(_peak(skyline, columns, wide), BOLD)}",
        *(f"{ticks.get(row, ''):>{left}} {sides[row in ticks]}{line}" for row, line in enumerate(rows)),
        f"{'0':>{left}} {styled('└' + ''.join(_axis(columns)), DIM)}",
        f"{'':>{left + 2}}{''.join(_phases(columns))}".rstrip(),
        f"{'':>{left + 2}}{styled(legend, DIM)}",
    ]


def _row(levels: Sequence[float], row: int, floor: int) -> str:
    """Counted from below."""
    if row < floor:
        return styled(THROUGHOUT * len(levels), DIM)
    blocks = (EIGHTHS[min(max(round(level) - row * 8, 0), 8)] for level in levels)
    return styled("".join(blocks).rstrip(), CYAN)


def _columns(stretches: Sequence[Stretch], wide: int) -> list[Sequence[Stretch]]:
    """What each column shows: one stretch, or several where there are more of them than columns."""
    number = len(stretches)
    return [stretches[c * number // wide : max((c + 1) * number // wide, c * number // wide + 1)] for c in range(wide)]


def _peak(skyline: Skyline, columns: list[Sequence[Stretch]], wide: int) -> str:
    """`▼ peak: backward, loss · 5.09 GB`, with its mark above the peak."""
    peak = skyline.stretches[skyline.peak]
    own = [place for place, each in enumerate(columns) if any(one is peak for one in each)]
    middle = own[len(own) // 2]
    words = f"peak: {visible(peak.phase)}, {visible(peak.name)} · {decimal_bytes(peak.height)}"
    if middle + 2 + len(words) <= wide:
        return f"{'':>{middle}}▼ {words}"
    return f"{words} ▼".rjust(middle + 1)


def _axis(columns: list[Sequence[Stretch]]) -> Iterator[str]:
    """A tick where a phase ends."""
    for _, own in groupby(each[0].phase for each in columns):
        yield "─" * (len(list(own)) - 1) + "┴"


def _phases(columns: list[Sequence[Stretch]]) -> Iterator[str]:
    """Their names beneath, where there is room for them."""
    for phase, own in groupby(each[0].phase for each in columns):
        room, name = len(list(own)), visible(phase)
        yield name.ljust(room) if len(name) < room else " " * room
