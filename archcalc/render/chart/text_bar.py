"""Parts of an amount of memory against what a device has, in a terminal: one bar, and what each part comes to."""

from __future__ import annotations

import textwrap

from archcalc.core.visible import visible
from archcalc.report.bar import Bar
from archcalc.report.units import FREE, GLYPHS, stacked
from archcalc.spec.units import binary_bytes

WIDEST = 80


def in_text(bar: Bar, width: int) -> list[str]:
    """`██████████▒▪▫····│ 23.52 GiB`, with the legend beneath."""
    limit = binary_bytes(bar.limit)
    room = max(min(width, WIDEST) - len(limit) - 1, 2)
    marked = zip(GLYPHS, bar.parts.items(), strict=False)
    parts = [f"{glyph} {visible(name)} {binary_bytes(size)}" for glyph, (name, size) in marked if size]
    free = bar.limit - sum(bar.parts.values())
    if free > 0:
        parts.append(f"{FREE} free {binary_bytes(free)}")
    legend = textwrap.wrap("   ".join(part.replace(" ", "\xa0") for part in parts), width)
    return [
        f"{stacked(tuple(bar.parts.values()), bar.limit, room)} {limit}",
        *(line.replace("\xa0", " ") for line in legend),
    ]
