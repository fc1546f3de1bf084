"""FSDP2's memory besides its shards: gathered weights, and the buffers of all-gather and reduce-scatter, by stream.

A group of parameters is cast into a flat input, gathered into a flat output on the all-gather stream, and copied out of
that into one tensor for each parameter on the compute stream. Going forward the flat output is freed once the next
group has been gathered; going back it is freed at once, and the group before is gathered while this one computes.
Gradients of a group are copied into one flat input, which stays until those of the next group are to be reduced, and
the reduced shards are allocated on the reduce-scatter stream.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archcalc.simulate.events import Block, Stream
from archcalc.simulate.ledger import Ledger

Sizes = Sequence[int]  # bytes of the gathered parameters of a group


@dataclass
class Gathering:
    """Every group is empty where weights are not sharded, and nothing is written down."""

    ledger: Ledger
    gpus: int  # that shards are gathered from
    are_offloaded: bool = False  # shards, which are then copied to the GPU before they are cast
    output: Block | None = None  # of the last all-gather going forward
    prefetched: Block | None = None  # of the next one going back
    reduced: Block | None = None  # what the last reduce-scatter reads

    def forward(self, group: Sizes) -> list[Block]:
        """A group is gathered and copied out; the output of the group before it is freed in between."""
        output = self._gather(group)
        self.ledger.free(self.output)
        self.output = output
        return [self.ledger.allocate("temporary", size) for size in group]

    def loss(self) -> None:
        """The model has given its output."""
        self.ledger.free(self.output)
        self.output = None

    def backward(self, group: Sizes, before: Sizes) -> list[Block]:
        """A group is copied out of what was prefetched, and the group `before` it is gathered while it computes."""
        output = self.prefetched or self._gather(group)
        gathered = [self.ledger.allocate("temporary", size) for size in group]
        self.ledger.free(output)
        self.prefetched = self._gather(before)
        return gathered

    def prefetch(self, group: Sizes) -> None:
        self.prefetched = self._gather(group)

    def reduce(self, gradients: Sequence[Block], flat: int, share: int) -> Block:
        """Reduce-scatter gradients through a flat input of so many bytes; this GPU keeps its share of the result."""
        self.ledger.free(self.reduced)
        self.reduced = self.ledger.allocate("temporary", flat)
        self.ledger.free(*gradients)
        return self.ledger.allocate("gradients", share, Stream.REDUCE_SCATTER)

    def end(self) -> None:
        self.ledger.free(self.reduced)
        self.reduced = None

    def _gather(self, group: Sizes) -> Block | None:
        """The shards are cast into a flat input first, which is freed when the collective has begun."""
        whole = sum(group)
        if not whole:
            return None
        share = whole // self.gpus
        copied = self.ledger.allocate("temporary", share * self.are_offloaded, Stream.ALL_GATHER)
        cast = self.ledger.allocate("temporary", share, Stream.ALL_GATHER)
        output = self.ledger.allocate("temporary", whole, Stream.ALL_GATHER)
        self.ledger.free(copied, cast)
        return output
