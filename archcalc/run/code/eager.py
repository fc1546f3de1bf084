"""Attention that stores its scores, as transformers' eager_attention_forward computes it.

Products of heads are batches of matrices: `torch.matmul` copies queries, keys and values whose heads do not follow each
other in memory, as they do not after a projection, and their gradients are copied back to the order of positions. Keys
and values that were repeated for every head are such copies already. One sequence, one head or one position needs none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.ir import Module, Op, Tensor
from archcalc.run.code.layouts import Layouts
from archcalc.run.code.writing import WIDE, Lines, end_of_scope


def lower_core(core: Module, *, narrow: bool) -> None:
    """The section between the projections, if it stores scores."""
    if any(op.traits.softmax for op in core.ops):
        core.body[:] = _Eager(core, narrow, Layouts(core.parent or core)).lines()


@dataclass(frozen=True)
class _Eager:
    core: Module
    narrow: bool
    layouts: Layouts

    def lines(self) -> list[Op]:
        *_, last = self.core.ops
        answer = Tensor(last.output.axes, last.output.role)
        lines = [line for op in self.core.ops for line in self._line(op)]
        lines[-1] = replace(lines[-1], output=answer)
        repeated = [op.output for op in self.core.ops if is_repeat(op)]
        return [*lines, _in_order_of_positions(answer, last.output), *end_of_scope(*repeated)]

    def _line(self, op: Op) -> list[Op]:
        if op.traits.contraction:
            return self._product(op)
        if op.traits.softmax:
            return softmax(op, narrow=self.narrow)
        return [replace(op, kind="expand")] if is_repeat(op) and is_one_head(op.inputs[0]) else [op]

    def _product(self, op: Op) -> list[Op]:
        """A batch of products, of factors copied where they have to be."""
        copies = {tensor: _copy_of(tensor) for tensor in op.inputs if self._is_copied(tensor)}
        inputs = tuple(copies[tensor].output if tensor in copies else tensor for tensor in op.inputs)
        return [*copies.values(), replace(op, inputs=inputs)]

    def _is_copied(self, tensor: Tensor) -> bool:
        made = next((op for op in self.core.ops if op.output is tensor), None)
        if made:
            return is_repeat(made) and is_one_head(made.inputs[0]) and is_split_by_head(tensor)
        return is_split_by_head(tensor) and not self.layouts.lies_by_head(tensor)


def is_repeat(op: Op) -> bool:
    """Keys or values of a group, copied for each of its heads."""
    return bool(op.inputs) and int(op.output.size) > int(op.inputs[0].size) and not op.traits.contraction


def is_one_head(tensor: Tensor) -> bool:
    """Which all heads see where it is."""
    return int(tensor.dims[1].size) == 1


def _copy_of(tensor: Tensor) -> Op:
    return Op("copy", (tensor,), Tensor(tensor.axes, tensor.role))


def is_split_by_head(tensor: Tensor) -> bool:
    """Whether heads, seen in front of positions, lie between them: more than one of each, of more than one sequence."""
    batch, head, seq, _ = tensor.dims
    return min(int(batch.size), int(head.size), int(seq.size)) > 1


def softmax(op: Op, *, narrow: bool) -> list[Op]:
    """In the scores' format, or in fp32 and cast back; a variable holds the scores until the weights are there."""
    (scores,) = op.inputs
    lines = Lines(narrow=narrow)
    wide = op.traits.softmax == "fp32"
    weights = lines.do("softmax", lines.cast(scores, WIDE) if wide else scores)
    lines.cast(weights, scores.role)
    lines.hold(scores)
    return lines.returned(op)


def _in_order_of_positions(answer: Tensor, into: Tensor) -> Op:
    """What each head gives, copied so that the heads of a position follow each other; so is its gradient, back."""
    batch, head, seq, _ = answer.dims
    if min(int(head.size), int(seq.size)) == 1:
        return Op("seen", (answer,), into)
    return Op("reorder" if int(batch.size) > 1 else "copy", (answer,), into)
