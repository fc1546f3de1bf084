"""Temporary memory of parameters in a step: cast or dequantised copies, and gradients being reduced over GPUs."""

from __future__ import annotations

from dataclasses import dataclass, field

from archcalc.analyze.memory.fsdp import Gathering
from archcalc.analyze.memory.ledger import Ledger
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
    there: set[Copy] = field(default_factory=set)  # by the number of the step

    def make(self, step: Step) -> None:
        """Make the copies that a matrix product needs, unless they still exist."""
        for param in step.weights if step.op.traits.matrix else ():
            if (param, step.number) not in self.there:
                self.there.add((param, step.number))
                self.ledger.change(self._part(param), self.policy.copy(param))

    def drop(self, step: Step, *, all_of_them: bool = True) -> None:
        for param in step.weights:
            if (param, step.number) in self.there and (all_of_them or not self.policy.copy_stays(param)):
                self.there.remove((param, step.number))
                self.ledger.change(self._part(param), -self.policy.copy(param))

    def _part(self, param: Param) -> str:
        return "weights" if self.policy.copy_stays(param) else "temporary"


@dataclass
class ParameterGradients:
    """Gradients of parameters: accumulated for the optimizer, or reduced over GPUs after each block."""

    policy: StepPolicy
    ledger: Ledger
    gathering: Gathering
    made: set[Copy] = field(default_factory=set)
    unreduced: list[Copy] = field(default_factory=list)

    def make(self, wanted: Copy) -> int:
        """Bytes of a temporary gradient that is accumulated into an existing one, and freed after the op."""
        policy, size = self.policy, self.policy.gradient(wanted[0])
        if (policy.accumulates and not policy.reduces) or wanted in self.made:
            self.ledger.change("temporary", size)
            return size
        self.made.add(wanted)
        if policy.reduces:
            self.unreduced.append(wanted)
        self.ledger.change("temporary" if policy.reduces else "gradients", size)
        return 0

    def reduce(self, block: Module | None = None) -> None:
        """Reduce a block's gradients over GPUs, or all that are left, and keep this GPU's share."""
        ready = [one for one in self.unreduced if block is None or block in ancestors(one[0].owner)]
        self.unreduced = [one for one in self.unreduced if one not in ready]
        params, policy = [param for param, _ in ready], self.policy
        kept = 0 if policy.accumulates else sum(map(policy.kept_gradient, params))
        self.gathering.reduce(sum(map(policy.gradient, params)), kept, sum(map(policy.summed, params)))
