"""Bytes of a step's tensors on one GPU."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Module, Tensor
from archcalc.core.mesh import Plan
from archcalc.core.precision import Policy


@dataclass(frozen=True)
class TensorBytes:
    """By a plan and a policy. What is cached between steps is there all the time, and counted apart."""

    plan: Plan
    policy: Policy

    def __call__(self, tensor: Tensor, module: Module) -> int:
        return 0 if tensor.role == "cache" else self.plan.size(tensor) * self.policy.bytes_of(tensor.role)
