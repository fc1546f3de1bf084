"""How the GPUs of a tensor-parallel group divide a dim, declared by the layer that makes the dim.

    Dim.of("heads", 32, split=EVENLY)                    so many heads for each GPU
    Dim("inner_b_c", 640, split=joined(Piece(8, 64), Piece(1, 128, Remainder.ONE_COPIED)))
                                                         several widths in one dim, each divided by itself

A dim that declares nothing is replicated: every GPU holds all of it.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Remainder(Enum):
    """What happens if a number of heads, groups or rows is not divisible by the number of GPUs."""

    REFUSED = "engines refuse it"
    COPIED = "of fewer heads than GPUs, every one is held by equally many GPUs"  # vLLM, QKVParallelLinear
    ONE_COPIED = "a single group is held by all GPUs"  # vLLM, mamba_mixer2.py
    SHORTER = "the last GPU holds fewer rows"  # vLLM, VocabParallelEmbedding


class Piece(NamedTuple):
    """`number` units, such as heads, of `width` elements each; a GPU holds whole units."""

    number: int
    width: int = 1
    remainder: Remainder = Remainder.REFUSED

    @property
    def size(self) -> int:
        return int(self.number) * int(self.width)

    def allows(self, gpus: int) -> bool:
        """Whether inference engines can split it over that many GPUs."""
        if self.number % gpus == 0 or self.remainder is Remainder.SHORTER:
            return True
        if self.remainder is Remainder.ONE_COPIED:
            return self.number == 1
        return self.remainder is Remainder.COPIED and self.number < gpus and gpus % self.number == 0


class Split(NamedTuple):
    """The pieces that lie behind each other in a dim; without any, every element is a unit of one piece.

    `sequence_parallel` tells whether libraries are known to divide the sequence around a layer that is split so."""

    pieces: tuple[Piece, ...] = ()
    remainder: Remainder = Remainder.REFUSED
    sequence_parallel: bool = True

    def of(self, size: int) -> tuple[Piece, ...]:
        """The pieces of a dim of that size."""
        return self.pieces or (Piece(int(size), remainder=self.remainder),)

    def part(self, size: int, gpus: int) -> int:
        """Elements of a dim of that size on one GPU; on the GPU with the most if the split is uneven."""
        return sum(-(-int(piece.number) // gpus) * int(piece.width) for piece in self.of(size))

    def allows(self, size: int, gpus: int) -> bool:
        return all(piece.allows(gpus) for piece in self.of(size))

    def is_disjoint(self, size: int, gpus: int) -> bool:
        """Whether no element is on two GPUs."""
        return all(one.remainder is Remainder.SHORTER or one.number % gpus == 0 for one in self.of(size))


EVENLY = Split()
OR_COPIED = Split(remainder=Remainder.COPIED)
LAST_SHORTER = Split(remainder=Remainder.SHORTER)
OF_STATES = Split(sequence_parallel=False)  # channels of a layer with a recurrent state or a causal convolution


def joined(*pieces: Piece) -> Split:
    """Of a layer with a recurrent state: its widths lie behind each other, each made of whole heads or groups."""
    return Split(pieces, sequence_parallel=False)
