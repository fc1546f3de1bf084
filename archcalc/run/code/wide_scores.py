"""Scores of attention in fp32: queries and keys are cast, and so are the weights back.

Source: transformers, GPTJAttention._attn, CodeGenAttention._attn and GPTNeoSelfAttention._attn.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor
from archcalc.run.code.writing import WIDE


def widen_scores(core: Module) -> None:
    """Everything up to softmax; a kernel is left as it is."""
    if any(op.traits.softmax for op in core.ops):
        wide: dict[Tensor, Tensor] = {}
        core.body[:] = [new for op in core.ops for new in _widened(op, wide)]


def _widened(op: Op, wide: dict[Tensor, Tensor]) -> list[Op]:
    """`wide`: what stands in the place of tensors so far."""
    is_first = op.traits.contraction and not wide
    casts = [Op("cast", (tensor,), Tensor(tensor.axes, WIDE)) for tensor in op.inputs] if is_first else []
    if not casts and op.inputs[:1] and op.inputs[0] not in wide:
        return [op]
    wide.update((cast.inputs[0], cast.output) for cast in casts)
    made = Tensor(op.output.axes, WIDE)
    changed = replace(op, inputs=tuple(wide.get(tensor, tensor) for tensor in op.inputs), output=made)
    if op.traits.softmax:
        return [*casts, replace(changed, kind="softmax", beside={}), Op("cast", (made,), op.output)]
    wide[op.output] = made
    return [*casts, changed]
