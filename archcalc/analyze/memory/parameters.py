"""Temporary memory of parameters in a step: cast or dequantised copies, and gradients being reduced over GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field

from archcalc.analyze.memory.fsdp import Gathering
from archcalc.analyze.memory.ledger import Ledger
from archcalc.analyze.memory.profile import Block
from archcalc.analyze.memory.schedule import Step
from archcalc.analyze.memory.step_policy import StepPolicy
from archcalc.core.ir import Module, Param
from archcalc.core.tree import ancestors

Copy = tuple[Param, int]  # a parameter, and which copy of it


@dataclass
class WeightCopies:
    """Weights that were cast, or dequantised, for a product."""

    policy: StepPolicy
    ledger: Ledger
    there: dict[Copy, Block] = field(default_factory=dict)  # by the number of the step
    are_saved: bool = True  # by autograd: not inside of what is recomputed, going forward

    def make(self, step: Step) -> None:
        """Make the copies that a matrix product needs, unless they still exist."""
        for param in step.weights if self._is_cast(step) else ():
            if (param, step.number) not in self.there:
                self.there[param, step.number] = self.ledger.allocate(self._part(param), self.policy.copy(param))

    def _is_cast(self, step: Step) -> bool:
        """Not where autocast leaves a product in its weight's number format."""
        return step.op.traits.matrix and not (self.policy.copies_are_cached and step.op.traits.autocast == "weight")

    def _stays(self, step: Step, param: Param) -> bool:
        """Behind its product: cached by autocast, or saved for the backward pass."""
        is_saved = self.are_saved and param in step.saved_weights
        return self.policy.copy_stays(param) and (is_saved or self.policy.copy_is_cached(param))

    def drop(self, step: Step, *, all_of_them: bool = True) -> None:
        for param in step.weights:
            if (param, step.number) in self.there and (all_of_them or not self._stays(step, param)):
                self.ledger.free(self.there.pop((param, step.number)))

    def forget(self, step: Step, saved: Container[Param]) -> None:
        """All but what the step saved."""
        for param in step.weights:
            if param not in saved and (param, step.number) in self.there:
                self.ledger.free(self.there.pop((param, step.number)))

    def _part(self, param: Param) -> str:
        return "weights" if self.policy.copy_stays(param) else "temporary"


@dataclass
class ParameterGradients:
    """Gradients of parameters: accumulated for the optimizer, or reduced over GPUs after each block.

    A parameter that is used several times has its gradients added up first; a view is not added to in place."""

    policy: StepPolicy
    ledger: Ledger
    gathering: Gathering
    uses: Counter[Copy]  # that have yet to be differentiated
    waiting: dict[Copy, Block] = field(default_factory=dict)  # for other uses
    views: set[Copy] = field(default_factory=set)  # of those that wait
    unreduced: dict[Copy, Block] = field(default_factory=dict)
    kept: list[Block] = field(default_factory=list)  # until the optimizer's step is done

    def make(self, wanted: Copy) -> Block:
        """One use's gradient."""
        return self.ledger.allocate(self._part(wanted), self.policy.gradient(wanted[0]), what=wanted[0])

    def skip(self, wanted: Copy) -> None:
        """A use whose gradient is added to the one that is there."""
        self.uses[wanted] -= 1

    def add(self, wanted: Copy, made: Block, *, is_view: bool) -> None:
        """To those of other uses; the last one completes the gradient."""
        there = self.waiting.pop(wanted, None)
        if there is None:
            self.views.update([wanted] if is_view else [])
        elif wanted in self.views:
            self.views.discard(wanted)
            made = self._sum(wanted, there, made)
        else:
            self.ledger.free(made)
            made = there
        self.uses[wanted] -= 1
        if self.uses[wanted] > 0:
            self.waiting[wanted] = made
        else:
            self._complete(wanted, made)

    def _sum(self, wanted: Copy, one: Block, other: Block) -> Block:
        found = self.make(wanted)
        self.ledger.free(one)
        self.ledger.free(other)
        return found

    def _complete(self, wanted: Copy, made: Block) -> None:
        """Kept, or added to the gradient of earlier micro-batches."""
        if self.policy.reduces:
            self.unreduced[wanted] = made
        elif self.policy.accumulates or self.policy.offloads:
            self.ledger.free(made)
        else:
            self.kept.append(made)

    def _part(self, wanted: Copy) -> str:
        is_first = wanted not in self.waiting
        passes = self.policy.reduces or self.policy.accumulates or self.policy.offloads
        return "gradients" if is_first and not passes else "temporary"

    def reduce(self, block: Module | None = None) -> None:
        """Reduce a block's gradients over GPUs, or all that are left, and keep this GPU's share."""
        ready = [one for one in self.unreduced if block is None or block in ancestors(one[0].owner)]
        gradients = [self.unreduced.pop(one) for one in ready]
        params, policy = [param for param, _ in ready], self.policy
        kept = 0 if policy.accumulates else sum(map(policy.kept_gradient, params))
        share = self.gathering.reduce(gradients, sum(map(policy.summed, params)), kept)
        if policy.offloads:  # copied to host RAM, be it to be added to what is there
            self.ledger.free(share)
        else:
            self.kept.append(share)

    def clear(self) -> None:
        """Set to None, as zero_grad does, for the next step."""
        for block in self.kept:
            self.ledger.free(block)
        self.kept = []
