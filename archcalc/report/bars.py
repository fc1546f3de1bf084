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
    bar = "".join(glyph * cells for glyph, cells in zip(GLYPHS, shared(parts, used), strict=False)).ljust(room, FREE)
    place = min(round(limit * room / scale), room - (needed > limit))
    return bar[:place] + LIMIT + bar[place:]


def shared(parts: Sequence[int], cells: int) -> list[int]:
    """Cells by the size of the parts; what rounding leaves goes to those that lost most by it."""
    total = sum(parts) or 1
    whole = [part * cells // total for part in parts]
    losses = sorted(range(len(parts)), key=lambda index: -(parts[index] * cells % total))
    for index in losses[: cells - sum(whole)]:
        whole[index] += 1
    return whole
