"""Memory over a step, in a terminal: a stepped area in block characters, with the peak marked and named."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap

from archcalc.core.visible import visible
from archcalc.render.style import BOLD, CYAN, DIM, styled
from archcalc.report.picture import Skyline, Stretch
from archcalc.spec.units import binary_bytes

ROWS = 8
WIDEST = 96  # columns: a step has few stretches
EIGHTHS = " ▁▂▃▄▅▆▇█"
THROUGHOUT = "░"


def in_text(skyline: Skyline, width: int) -> list[str]:
    highest = skyline.stretches[skyline.peak].height
    ticks = {0: binary_bytes(highest), ROWS // 2: binary_bytes(highest // 2)}
    left = max(map(len, ticks.values()))
    wide = max(min(width - left - 2, WIDEST), 1)
    number = len(skyline.stretches)
    ends = [(c * number // wide, (c + 1) * number // wide) for c in range(wide)]
    # What each column shows: one stretch, or several where there are more of them than columns.
    columns = [skyline.stretches[start : max(end, start + 1)] for start, end in ends]
    levels = [max(one.height for one in each) * ROWS * 8 / max(highest, 1) for each in columns]
    floor = min(skyline.throughout * ROWS // max(highest, 1), ROWS)  # whole rows
    rows = [styled(THROUGHOUT * wide, DIM)] * floor
    for row in range(floor, ROWS):  # counted from below
        blocks = (EIGHTHS[min(max(round(level) - row * 8, 0), 8)] for level in levels)
        rows.insert(0, styled("".join(blocks).rstrip(), CYAN))
    legend = f"{THROUGHOUT} there throughout: {binary_bytes(skyline.throughout)}"
    phases = [(visible(phase), len(list(own))) for phase, own in groupby(each[0].phase for each in columns)]
    axis = "".join("─" * (room - 1) + "┴" for _, room in phases)  # a tick where a phase ends
    names = "".join(name.ljust(room) if len(name) < room else " " * room for name, room in phases)
    sides = {True: styled("┤", DIM), False: styled("│", DIM)}
    return [
        f"{'':>{left + 2}}{styled(_peak(skyline, columns, wide), BOLD)}",
        *(f"{ticks.get(row, ''):>{left}} {sides[row in ticks]}{line}" for row, line in enumerate(rows)),
        f"{'0':>{left}} {styled('└' + axis, DIM)}",
        f"{'':>{left + 2}}{names}".rstrip(),
        f"{'':>{left + 2}}{styled(legend, DIM)}",
        *(f"{'':>{left + 2}}{text}" for text in wrap(visible(skyline.why), wide)),
    ]


def _peak(skyline: Skyline, columns: Sequence[Sequence[Stretch]], wide: int) -> str:
    """`▼ peak: backward, loss · 5.09 GB`, with its mark above the peak."""
    peak = skyline.stretches[skyline.peak]
    own = [place for place, each in enumerate(columns) if any(one is peak for one in each)]
    middle = own[len(own) // 2]
    words = f"peak: {visible(peak.phase)}, {visible(peak.name)} · {binary_bytes(peak.height)}"
    if middle + 2 + len(words) <= wide:
        return f"{'':>{middle}}▼ {words}"
    return f"{words} ▼".rjust(middle + 1)
