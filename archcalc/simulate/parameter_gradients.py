"""Gradients of parameters: accumulated for the optimizer, or reduced over GPUs after each block.

A parameter that is used several times has its gradients added up first; a view is not added to in place.
"""

from __future__ import annotations

from collections import Counter

from archcalc.core.ir import Module
from archcalc.core.tree import ancestors
from archcalc.simulate.events import Block
from archcalc.simulate.gathering import Gathering
from archcalc.simulate.ledger import Ledger
from archcalc.simulate.nodes import ParamCopy
from archcalc.simulate.schedule import Schedule


class ParameterGradients:
    """Those that wait for other uses of their parameter, those to be reduced, and those for the optimizer."""

    def __init__(self, schedule: Schedule, ledger: Ledger, gathering: Gathering) -> None:
        self.schedule, self.ledger, self.gathering = schedule, ledger, gathering
        used = (wanted for step in schedule.steps() for wanted in step.grads if isinstance(wanted, tuple))
        self.uses = Counter(used)  # that have yet to be differentiated
        self.waiting: dict[ParamCopy, Block] = {}  # for other uses
        self.views: set[ParamCopy] = set()  # of those that wait
        self.unreduced: dict[ParamCopy, Block] = {}
        self.done: list[Block] = []  # until the optimizer's step is done
        self.is_added = schedule.accumulates or schedule.to_host  # to gradients that are somewhere else

    def make(self, wanted: ParamCopy) -> Block:
        """One use's gradient."""
        passes = self.schedule.reduces or self.is_added or wanted in self.waiting
        size = self.schedule.gradients[wanted[0]].made
        return self.ledger.allocate("temporary" if passes else "gradients", size, what=wanted[0])

    def add(self, wanted: ParamCopy, made: Block, *, is_view: bool) -> None:
        """To those of other uses; the last one completes the gradient."""
        there = self.waiting.pop(wanted, None)
        if there is None:
            self.views.update([wanted] if is_view else [])
        elif wanted in self.views:
            self.views.discard(wanted)
            whole = self.make(wanted)
            self.ledger.free(there, made)
            made = whole
        else:
            self.ledger.free(made)
            made = there
        self.uses[wanted] -= 1
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
        share = 0 if self.schedule.accumulates else sum(size.share for size in sizes)
        made = [self.unreduced.pop(one) for one in ready]
        reduced = self.gathering.reduce(made, sum(size.flat for size in sizes), share)
        if self.schedule.to_host:
            self.ledger.free(reduced)
        else:
            self.done.append(reduced)
