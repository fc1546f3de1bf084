"""FSDP2's memory besides its shards: gathered weights, and the buffers of all-gather and reduce-scatter.

A block's weights are gathered into a flat buffer and copied out of it. Going forward the buffer is let go of when the
next block's weights have come; going back it is free at once, and the block before is gathered into another while this
one computes. A block's gradients are copied to one buffer, which stays until those of the next block are to be summed.
What stands outside of blocks is gathered when the model begins, and let go of when the backward pass ends.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Book = Callable[[str, int], None]  # the part, and so many bytes more or fewer


@dataclass
class Gathering:
    """All sizes are 0 where weights are not sharded, and nothing is written down."""

    book: Book
    buffer: int = 0  # what the last all-gather filled
    summing: int = 0  # what the last reduce-scatter reads

    def begin(self, outside: int) -> None:
        """Weights outside of blocks."""
        self.book("temporary", outside)
        self._fill(outside)

    def forward(self, weights: int) -> None:
        """A block's forward pass begins."""
        self._fill(weights)
        self.book("temporary", weights)

    def loss(self) -> None:
        """The model has given its output."""
        self._fill(0)

    def backward(self, weights: int, is_first: bool) -> None:
        """A block's backward pass begins and prefetches the block before it, if there is one."""
        self.forward(weights)
        if is_first:
            self._fill(0)

    def done(self, weights: int) -> None:
        """A block's gathered weights are freed."""
        self.book("temporary", -weights)

    def reduce(self, gradients: int, kept: int, copied: int) -> None:
        """Reduce-scatter gradients, through a buffer of that many bytes."""
        self.book("temporary", copied - self.summing)
        self.summing = copied
        self.book("temporary", -gradients)
        self.book("gradients", kept)

    def end(self) -> None:
        self.book("temporary", -self.summing)
        self.summing = 0

    def _fill(self, number: int) -> None:
        self.book("temporary", number - self.buffer)
        self.buffer = number
