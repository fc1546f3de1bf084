"""Stretches that one kernel computes: from outside a single op, which keeps what goes in and nothing that it makes.

Forward code records what a kernel does as a section of the unit `kernel`, op by op: that is where its FLOPs come from.
What stands in memory is another matter: the kernel reads its inputs and writes its output, and its backward pass
computes again what the gradients need (`archcalc.core.execution`).
"""

from __future__ import annotations

from typing import TypeGuard

from archcalc.core.ir import Module, Op, Region
from archcalc.core.tree import ops_in, read_from_outside


def is_kernel(item: Op | Module) -> TypeGuard[Module]:
    """Whether what stands there is computed as one."""
    return isinstance(item, Module) and item.region == Region.KERNEL


def as_op(kernel: Module) -> Op:
    """All of a kernel: what it reads that others made, and the last thing that it makes."""
    *_, last = (op for op in ops_in(kernel) if op.output.role != "cache")
    return Op("kernel", tuple(read_from_outside(kernel)), last.output)
