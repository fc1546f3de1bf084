"""Dropout: random zeros, while training only."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.spec.workload import Workload


def dropped(m: Module, x: Tensor, rate: float, work: Workload) -> Tensor:
    """x with some of its elements at zero, where the spec says so and a training step asks for it."""
    return m.record("dropout", x) if rate and work.trains else x
