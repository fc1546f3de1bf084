"""A bar of several parts against a limit, in characters that differ without colour."""

from __future__ import annotations

from collections.abc import Sequence

GLYPHS = "█▓▒░▪▫"  # the parts, in their order
FREE, LIMIT = "·", "│"
WIDTH = 12


def stacked(parts: Sequence[int], limit: int, width: int = WIDTH) -> str:
    """`████▓▓▒·······│` fits, with room to spare; `██████████│▓▓▒▒` does not."""
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
