"""Dropout: random zeros, while training only."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.spec.workload import Workload


def dropped(m: Module, x: Tensor, rate: float, work: Workload) -> Tensor:
    """x after dropout, if the spec has dropout and the workload is a training step."""
    return m.record("dropout", x) if rate and work.trains else x
