"""Dropout: random zeros, while training only."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.spec.workload import Workload


def dropped(m: Module, x: Tensor, rate: float, work: Workload, place: str) -> Tensor:
    """x after dropout, if that place has it by the spec or by the style, and the workload is a training step."""
    has_dropout = bool(rate) if m.style.dropout is None else place in m.style.dropout
    return m.record("dropout", x) if work.trains and has_dropout else x
