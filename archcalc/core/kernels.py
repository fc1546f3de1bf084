"""Fused kernels: seen from outside a single op, which saves its inputs for backward and no intermediate results.

Forward code records what a kernel does as a section of the unit `kernel`, op by op: that is where its FLOPs come from.
In memory there are only the kernel's inputs and its output; its backward pass recomputes what the
gradients need (`archcalc.core.execution`).
"""

from __future__ import annotations

from typing import TypeGuard

from archcalc.core.ir import Module, Op, Region
from archcalc.core.tree import ops_in, read_from_outside


def is_kernel(item: Op | Module) -> TypeGuard[Module]:
    """Whether the section is computed by one fused kernel."""
    return isinstance(item, Module) and item.region == Region.KERNEL


def as_op(kernel: Module) -> Op:
    """A kernel as one op: the inputs made outside of it, and its last output."""
    *_, last = (op for op in ops_in(kernel) if op.output.role != "cache")
    return Op("kernel", tuple(read_from_outside(kernel)), last.output)
