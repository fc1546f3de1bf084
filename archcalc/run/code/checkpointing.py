"""What libraries change about a model whose blocks are recomputed."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.roles import Role


def ask_embeddings(root: Module) -> None:
    """Embeddings want a gradient, also those of a frozen table, so that one goes through every block.

    Source: transformers, gradient_checkpointing_enable, which calls enable_input_require_grads."""
    for module, _ in walk(root):
        if any(param.weight_role is Role.TOKEN_TABLE for op in module.ops for param in _tables(op)):
            *others, last = module.body
            assert isinstance(last, Op)
            looked_up = Tensor(last.output.axes, last.output.role)
            module.body[:] = [*others, replace(last, output=looked_up), Op("asked", (looked_up,), last.output)]


def _tables(op: Op) -> list[Param]:
    return [tensor for tensor in op.inputs if isinstance(tensor, Param) and op.traits.reads_rows]
