"""FSDP2's memory besides its shards: gathered weights, and the buffers of an all-gather, on their stream.

A group of parameters is cast into a flat input, gathered into a flat output on the all-gather stream, and copied out of
that into one tensor for each parameter on the compute stream. Going forward the flat output is freed once the next
group has been gathered; going back it is freed at once, and the group before is gathered while this one computes.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archcalc.simulate.events import Block, Ledger, Stream

Sizes = Sequence[int]  # bytes of the gathered parameters of a group


@dataclass
class Gathering:
    """Every group is empty where weights are not sharded, and nothing is written down."""

    ledger: Ledger
    gpus: int  # that shards are gathered from
    are_offloaded: bool = False  # shards, which are then copied to the GPU before they are cast
    output: Block | None = None  # of the last all-gather going forward
    prefetched: Block | None = None  # of the next one going back

    def forward(self, group: Sizes) -> list[Block]:
        """A group is gathered and copied out; the output of the group before it is freed in between."""
        output = self.gather(group)
        self.ledger.free(self.output)
        self.output = output
        return [self.ledger.allocate("temporary", size) for size in group]

    def copied_out(self, group: Sizes) -> list[Block]:
        """Going back a group is copied out of what was prefetched."""
        output = self.prefetched or self.gather(group)
        gathered = [self.ledger.allocate("temporary", size) for size in group]
        self.ledger.free(output)
        self.prefetched = None
        return gathered

    def gather(self, group: Sizes) -> Block | None:
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
