"""Linear layers as PyTorch computes them: a product and its bias are one kernel, which makes one tensor."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Param, walk


def join_biases(root: Module) -> None:
    """Source: PyTorch, aten/src/ATen/native/Linear.cpp, linear: addmm, or an addition in place."""
    for module, _ in walk(root):
        module.body[:] = _joined(module.body)


def _joined(body: list[Op | Module]) -> list[Op | Module]:
    found: list[Op | Module] = []
    for item in body:
        before = found[-1] if found else None
        if isinstance(before, Op) and isinstance(item, Op) and _is_bias(before, item):
            inputs = (*before.inputs, *item.inputs[1:])
            found[-1] = replace(item, kind="affine", inputs=inputs, over=before.over, seen=before.seen)
        else:
            found.append(item)
    return found


def _is_bias(product: Op, added: Op) -> bool:
    """Whether the second op adds a vector to what the first one made with a matrix."""
    if not product.traits.contraction or not added.traits.joins_product or added.inputs[0] is not product.output:
        return False
    return isinstance(product.inputs[-1], Param) and all(isinstance(one, Param) for one in added.inputs[1:])
