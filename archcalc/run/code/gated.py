"""The activation of a gated feed-forward layer and its product with the gate, as one kernel.

It reads what one product gave of gate and up, with their biases, and saves that alone.
Source: Megatron-LM, megatron/core/fusions/fused_bias_swiglu.py and fused_bias_geglu.py; experts have the first alone
(megatron/core/transformer/moe/experts.py).
"""

from __future__ import annotations

from archcalc.core.ir import Module, Op, Region, Tensor, walk
from archcalc.core.mesh import Plan

EXPERTS = "layers and experts"  # whose kernel it is


def fuse(root: Module, plan: Plan) -> None:
    for module, _ in walk(root):
        for split in [op for op in module.ops if op.traits.gives_beside and len(op.beside) == 1]:
            _fuse(module, split)


def _fuse(module: Module, split: Op) -> None:
    """Where an activation reads the first part, and a product that and the second; in experts the weights too."""
    acting = _reader(module, split.output)
    gating = _reader(module, acting.output) if acting and acting.traits.gated_kernel else None
    if not (acting and gating and gating.traits.multiplies) or gating.inputs[1:] != tuple(split.beside.values()):
        return
    last = gating
    more: tuple[Tensor, ...] = ()
    if module.region == Region.EXPERTS:
        weighing = _reader(module, gating.output)
        if acting.traits.gated_kernel != EXPERTS or not weighing:
            return
        last, more = weighing, weighing.inputs[1:]
    fused = {acting, gating, last}
    kernel = Op("kernel", (*split.inputs, *more), last.output)
    module.body[:] = [kernel if item is split else item for item in module.body if item not in fused]


def _reader(module: Module, tensor: Tensor) -> Op | None:
    """The elementwise op of the module itself that reads a tensor first."""
    return next((op for op in module.ops if op.inputs[:1] == (tensor,)), None)
