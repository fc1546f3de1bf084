"""A bar of several parts against a limit, in characters that differ without colour."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from archcalc.report import GLYPHS

FREE, LIMIT = "·", "│"
WIDTH = 16


def stacked(parts: Sequence[int], limit: int, width: int = WIDTH) -> str:
    """`████▓▓▒·······│` fits, with room to spare; `██████████│▓▓▒▒` does not."""
    needed = sum(parts)
    scale = max(needed, limit, 1)
    ends = [round(end * (width - 1) / scale) for end in accumulate(parts, initial=0)]
    bar = "".join(glyph * (end - start) for glyph, (start, end) in zip(GLYPHS, pairwise(ends), strict=False))
    bar = bar.ljust(width - 1, FREE)
    place = min(round(limit * (width - 1) / scale), width - 1 - (needed > limit))
    return bar[:place] + LIMIT + bar[place:]
