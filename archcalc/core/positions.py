"""Which positions of a sequence a dim runs over, if any; declared where the dim is made."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Positions(Enum):
    """A dim that declares none of these has no positions: a width, heads, rows of a table, a recurrent state."""

    SEQUENCE = "the tokens that are read"  # sequence parallelism cuts them
    GATHERED = "the same, gathered from all GPUs that share them"
    PAST = "positions that attention looks at: as many as the sequence is long"
    WINDOW = "the last of them, as many as a window or a chunk has"
    TAIL = "the last positions that a causal convolution has read"
    SEGMENT = "positions of earlier segments, as many as a memory of hidden states keeps"


GROWING = frozenset({Positions.SEQUENCE, Positions.PAST, Positions.WINDOW})  # a cache along these is keys and values


class Reach(NamedTuple):
    """How many positions attention looks back at, where a window or a chunk limits it. A cache declares it also while
    the sequence is shorter, since engines lay layers out by it."""

    positions: int
    chunked: bool = False  # those of the same chunk alone, and no window that moves along
