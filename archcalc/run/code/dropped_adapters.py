"""LoRA as litgpt writes it beside one matrix: dropout in front of A.

Source: litgpt, LoRALinear.forward.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor, walk
from archcalc.core.roles import Role
from archcalc.run.code.dropouts import dropout


def drop_inputs(root: Module) -> None:
    """In front of every adapter that is a module of its own."""
    for module, _ in walk(root):
        products = [op for op in module.ops if op.traits.contraction]
        if products and any(param.weight_role is Role.ADAPTER for param in module.params.values()):
            place = module.body.index(products[0])
            module.body[place : place + 1] = _dropped(products[0])


def _dropped(product: Op) -> list[Op]:
    x, *weights = product.inputs
    dropped = Tensor(x.axes, x.role)
    return [dropout(x, dropped), replace(product, inputs=(dropped, *weights))]
