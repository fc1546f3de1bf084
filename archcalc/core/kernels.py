"""Fused kernels: seen from outside a single op, which saves its inputs for backward and no intermediate results.

Forward code records what a kernel does as a section of the unit `kernel`, op by op: that is where its FLOPs come from.
In memory there are only the kernel's inputs and its output; its backward pass recomputes what the
gradients need (`archcalc.core.execution`).

What a kernel reads is moved once for all of its ops: `launches` says which ops those are.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import NamedTuple

from archcalc.core.ir import Module, Op, Region
from archcalc.core.tree import ops_in, read_from_outside


def as_op(kernel: Module) -> Op:
    """A kernel as one op: the inputs made outside of it, and its last output."""
    *_, last = (op for op in ops_in(kernel) if op.output.role != "cache")
    return Op("kernel", tuple(read_from_outside(kernel)), last.output)


class Launch(NamedTuple):
    """The ops of one kernel, and how often it runs."""

    ops: tuple[Op, ...]
    times: int


def launches(module: Module, fused: Container[Region | None], times: int = 1) -> Iterator[Launch]:
    """The kernels of a forward pass, in order: a region of the kinds in `fused` is one, any other op another. Modules
    that an earlier step has computed run none."""
    times *= int(module.runs)
    if times and module.region in fused:
        yield Launch(tuple(op for one in launches(module, ()) for op in one.ops), times)
    elif times:
        for item in module.body:
            yield from launches(item, fused, times) if isinstance(item, Module) else [Launch((item,), times)]
