"""Gradients of parameters: kept for the optimizer, or reduced over GPUs after each block.

Gradients of a block are copied into one flat input of a reduce-scatter, which stays until those of the next block are
to be reduced, and the reduced shards are allocated on the stream of the reduce-scatter.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from archcalc.core.ir import Module
from archcalc.simulate.events import Block, Ledger, Stream
from archcalc.simulate.nodes import ParamCopy
from archcalc.simulate.schedule import Schedule


@dataclass
class ParameterGradients:
    """Those to be reduced, and those for the optimizer."""

    schedule: Schedule
    ledger: Ledger
    uses: Counter[ParamCopy]  # that have yet to be differentiated
    is_added: bool  # to gradients that are somewhere else
    unreduced: dict[ParamCopy, Block] = field(default_factory=dict)
    flat: Block | None = None  # what the last reduce-scatter reads
    done: list[Block] = field(default_factory=list)  # until the optimizer's step is done

    def keep(self, wanted: ParamCopy, made: Block) -> None:
        """A gradient to which nothing is added any more."""
        if self.schedule.reduces:
            self.unreduced[wanted] = made
        elif self.is_added:
            self.ledger.free(made)
        else:
            self.done.append(made)

    def reduce(self, block: Module | None = None) -> None:
        """Reduce a block's gradients over GPUs, or all that are left, and keep this GPU's share."""
        ready = [one for one in self.unreduced if block is None or block in one[0].owner.ancestry]
        sizes = [self.schedule.gradients[param] for param, _ in ready]
        self.ledger.free(self.flat)
        self.flat = self.ledger.allocate("temporary", sum(size.flat for size in sizes))
        self.ledger.free(*[self.unreduced.pop(one) for one in ready])
        share = 0 if self.schedule.accumulates else sum(size.share for size in sizes)
        reduced = self.ledger.allocate("gradients", share, Stream.REDUCE_SCATTER)
        if self.schedule.to_host:
            self.ledger.free(reduced)
        else:
            self.done.append(reduced)
