"""One GPU's share: every op with the part of each dim that this GPU computes.

What a plan cannot split is computed by every GPU, and counts fully on each of them. With context parallelism a GPU
computes its part of the queries over the keys and values of the whole sequence, as ring attention does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from archcalc.core.ir import Axes, Dim, Module, Op, Tensor
from archcalc.core.mesh import Plan
from archcalc.core.positions import Positions


@dataclass(frozen=True)
class Share:
    """What one of a plan's GPUs computes of a traced model."""

    root: Module
    plan: Plan

    def op(self, op: Op) -> Op:
        """The op with its sizes on one GPU; its inputs keep their order."""
        if self.plan.gpus == self.plan.dp:
            return op
        whole: tuple[str, ...] = ()
        if op.traits.attention_kernel:  # reads keys and values of all GPUs that share a sequence
            whole = (op.inputs[1].dims[2].name,)
        return Op(
            op.kind,
            tuple(self._local(tensor, whole) for tensor in op.inputs),
            self._local(op.output, whole),
            over=tuple(self._dim(dim, self.plan.part(dim), whole) for dim in op.over),
            select=tuple(self._dim(dim, self.plan.part(dim), whole) for dim in op.select),
        )

    def elements(self, tensor: Tensor) -> int:
        """Of a whole tensor, those on one GPU."""
        return int(self._local(tensor).size)

    def _local(self, tensor: Tensor, whole: Iterable[str] = ()) -> Tensor:
        sizes = iter(self.plan.sizes(tensor))
        axes: Axes = tuple(tuple(self._dim(dim, next(sizes), whole) for dim in axis) for axis in tensor.axes)
        return Tensor(axes, tensor.role)

    def _dim(self, dim: Dim, size: int, whole: Iterable[str]) -> Dim:
        if dim.positions is Positions.SEQUENCE and dim.name not in whole:
            size = -(-size // self.plan.cp)
        return Dim.of(dim.name, size, copies=dim.copies, positions=dim.positions)
