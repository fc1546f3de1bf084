"""The attention mask: bidirectional, causal, a sliding window, or a chunk.

Attention computes all scores and masks some, so a narrower sight changes what a cache has to keep and how many
(query, key) pairs count, but not the products that eager attention does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.ir import Count, Dim, Seen, Tensor
from archcalc.core.positions import Positions, Reach


@dataclass(frozen=True)
class Sight:
    """`window` includes the position itself; without a causal mask, half of it lies on each side. `memory` are
    positions of earlier segments, which every position of this one sees (Transformer-XL)."""

    causal: bool = False
    window: int | None = None
    chunk: int | None = None
    memory: int = 0

    @property
    def hides(self) -> bool:
        """Whether a mask is needed."""
        return self.causal or bool(self.window or self.chunk)

    @property
    def about(self) -> str:
        """Which positions are seen, in a few words."""
        if self.window:
            return f"a window of {self.window:,} positions"
        if self.chunk:
            return f"positions of the same chunk of {self.chunk:,}"
        if self.memory:
            return f"and a memory of {self.memory:,} positions"
        return "sees no later positions" if self.causal else ""

    def past(self, seq: Dim) -> Dim:
        """Positions as attention looks at them: those of the memory, then those of the sequence."""
        name = f"kv_{seq.name}"
        if not self.memory:
            return Dim.of(name, seq.size, positions=Positions.PAST)
        return Dim(name, Count.named("segment_memory", self.memory) + seq.size, positions=Positions.PAST)

    def kept(self, past: Dim) -> Dim:
        """The positions that the KV cache must keep for the next token: the window, the chunk, or all of them."""
        widest, name = self.window or self.chunk, "window" if self.window else "chunk"
        if not widest:
            return past
        reach, left = Reach(widest, chunked=not self.window), Count.named(name, widest).at_most(past.size)
        if widest > past.size:
            return replace(past, size=left, reach=reach)
        return Dim(past.name, left, positions=Positions.WINDOW, reach=reach)

    def seen(self, mask: Tensor | None) -> Seen | None:
        """The (query, key) pairs that a mask leaves, of how many: position i attends to i + 1 positions, and at most w
        in a window of w."""
        if not (mask and self.hides):
            return None
        *_, length, past = (dim.size for dim in mask.dims)
        if self.chunk:
            whole = length // self.chunk
            left = whole * _triangle(self.chunk) + _triangle(length - whole * self.chunk)
        elif not self.causal:
            left = length + 2 * _capped(length - 1, (self.window or 0) // 2)
        elif self.window and not self.memory:
            left = _capped(length, self.window)
        else:
            left = length * (length + 1) // 2
            left = left + Count(self.memory) * length if self.memory else left
        return left, length * past


EVERYTHING = Sight()
CALLED = {True: "masked self-attention", False: "self-attention"}  # by whether it is causal


def _triangle(length: int) -> Count:
    """1 + 2 + … + length."""
    length = Count(length)
    return length * (length + 1) // 2


def _capped(length: Count, cap: int) -> Count:
    """The same with no term above `cap`."""
    rising = length.at_most(cap)
    return _triangle(rising) + Count(cap) * (length - rising)
