"""Gradients of parameters: accumulated for the optimizer, or reduced over GPUs after each block.

A parameter that is used several times has its gradients added up first; a view is not added to in place. Gradients of a
block are copied into one flat input of a reduce-scatter, which stays until those of the next block are to be reduced,
and the reduced shards are allocated on the stream of the reduce-scatter.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from archcalc.core.ir import Module
from archcalc.core.tree import ancestors
from archcalc.simulate.events import Block, Ledger, Stream
from archcalc.simulate.nodes import ParamCopy, Step
from archcalc.simulate.schedule import Schedule


@dataclass
class ParameterGradients:
    """Those that wait for other uses of their parameter, those to be reduced, and those for the optimizer."""

    schedule: Schedule
    ledger: Ledger
    uses: Counter[ParamCopy]  # that have yet to be differentiated
    is_added: bool  # to gradients that are somewhere else
    waiting: dict[ParamCopy, Block] = field(default_factory=dict)  # for other uses
    views: set[ParamCopy] = field(default_factory=set)  # of those that wait
    unreduced: dict[ParamCopy, Block] = field(default_factory=dict)
    flat: Block | None = None  # what the last reduce-scatter reads
    done: list[Block] = field(default_factory=list)  # until the optimizer's step is done

    def make(self, step: Step, wanted: ParamCopy) -> Block | None:
        """One use's gradient, as the product of a cast copy makes it or as it is; None for one that is added in its
        place."""
        if wanted[0] in step.added_in_place:
            return None
        narrow = step.cast_gradients.get(wanted[0])
        return self.ledger.allocate("temporary", narrow) if narrow else self._whole(wanted, step)

    def _whole(self, wanted: ParamCopy, step: Step | None = None) -> Block:
        """A use's, or the sum of two; the use of a head in chunks makes one chunk's beside the sum of those before."""
        passes = self.schedule.reduces or self.is_added or wanted in self.waiting
        size = self.schedule.gradients[wanted[0]].made
        made = self.ledger.allocate("temporary" if passes else "gradients", size, what=wanted[0])
        if step and self.schedule.loss_chunks > 1 and step.output in self.schedule.logits:
            self.ledger.for_a_moment("temporary", size)
        return made

    def add(self, step: Step, wanted: ParamCopy, made: Block | None) -> None:
        """To those of other uses, once the op has freed all, a narrow one cast back; the last one completes the
        gradient."""
        self.uses[wanted] -= 1
        if made is None:
            return
        is_cast = bool(step.cast_gradients.get(wanted[0]))
        if is_cast:
            narrow, made = made, self._whole(wanted, step)
            self.ledger.free(narrow)
        there = self.waiting.pop(wanted, None)
        if there is None:
            self.views.update([wanted] if step.op.traits.contraction and not is_cast else [])
        elif wanted in self.views:
            self.views.discard(wanted)
            parts, made = (there, made), self._whole(wanted)
            self.ledger.free(*parts)
        else:
            self.ledger.free(made)
            made = there
        if self.uses[wanted] > 0:
            self.waiting[wanted] = made
        elif self.schedule.reduces:
            self.unreduced[wanted] = made
        elif self.is_added:
            self.ledger.free(made)
        else:
            self.done.append(made)

    def reduce(self, block: Module | None = None) -> None:
        """Reduce a block's gradients over GPUs, or all that are left, and keep this GPU's share."""
        ready = [one for one in self.unreduced if block is None or block in ancestors(one[0].owner)]
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
