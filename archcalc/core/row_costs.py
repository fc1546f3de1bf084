"""What a log-probability that is computed one sequence after the other takes besides its gradient."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from archcalc.core.tensors import Dim, Tensor, axes

if TYPE_CHECKING:
    from archcalc.core.op_kind import Op, Wants


def rows_of_log_softmax(op: Op, wants: Wants) -> Iterable[Tensor]:
    """Every sequence's logarithms are traded for its gradient, with two more rows on the way; then all gradients are
    joined to one tensor, which takes as much again. Of one sequence the way there is the higher one."""
    return _rows(op, max(0, 2 - _sequences(op)))


def rows_of_logsumexp(op: Op, wants: Wants) -> Iterable[Tensor]:
    """Two more rows on the way to a sequence's gradient; then all gradients are joined, the logits still there."""
    return _rows(op, max(2, _sequences(op)))


def one_row(op: Op, wants: Wants) -> Iterable[Tensor]:
    """What PyTorch's logsumexp computes in: e to the power of a sequence's logits, less their largest."""
    return _rows(op, 1)


def _sequences(op: Op) -> int:
    return int(op.inputs[0].dims[0].size)


def _rows(op: Op, number: int) -> Iterable[Tensor]:
    _, *row = op.inputs[0].dims
    return [Tensor(axes(Dim.of("spare_rows", number), *row), op.inputs[0].role)] if number else []
