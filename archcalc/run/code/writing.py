"""Writes the ops that stand for one op of the traced model, as a library's code computes it."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Axes, Axis, Dim, Op, Tensor, axes

WIDE = "stat"  # the role of tensors in fp32


class Lines:
    """The lines of a function, in order: each op reads tensors and makes one."""

    def __init__(self, *, narrow: bool) -> None:
        self.ops: list[Op] = []
        self.narrow = narrow  # activations have fewer than 32 bits
        self.variables: list[Tensor] = []

    def do(
        self,
        kind: str,
        *inputs: Tensor,
        to: Axes | None = None,
        role: str = "",
        over: tuple[Dim, ...] = (),
        into: Tensor | None = None,
    ) -> Tensor:
        """One op, whose output is shaped like its first input unless said, or is a tensor that others read (`into`)."""
        output = into or Tensor(inputs[0].axes if to is None else to, role or inputs[0].role)
        self.ops.append(Op(kind, inputs, output, over))
        return output

    def see(self, kind: str, x: Tensor, *items: Dim | Axis) -> Tensor:
        """A part of a tensor, or all of it along other axes, with a gradient of its own."""
        seen = x.seen_as(*items)
        self.ops.append(Op(kind, (x,), seen))
        return seen

    def cast(self, x: Tensor, role: str) -> Tensor:
        """A copy in another number format; the same tensor if there is nothing to convert."""
        return self.do("cast", x, role=role) if self.narrow and x.role != role else x

    def mean(self, x: Tensor) -> Tensor:
        """Over the last axis."""
        return self.do("mean", x, to=x.axes[:-1], over=x.axes[-1])

    def hold(self, *tensors: Tensor) -> None:
        """Python's variables hold these until the function returns."""
        self.variables.extend(tensors)

    def scope(self) -> list[Op]:
        """All lines, and the end of their function."""
        return [*self.ops, *end_of_scope(*self.variables)]

    def returned(self, of: Op) -> list[Op]:
        """All lines, the last of which makes what the op made that they stand for; then the function's scope ends."""
        *lines, last = self.ops
        given = replace(last, output=of.output, name=of.name, note=of.note, title=of.title)
        held = (of.output if variable is last.output else variable for variable in self.variables)
        return [*lines, given, *end_of_scope(*held)]


def end_of_scope(*variables: Tensor) -> list[Op]:
    """A function returns, and with it goes what its variables held; no gradient comes from there."""
    held = tuple(tensor.detached() for tensor in dict.fromkeys(variables))
    return [Op("end_of_scope", held, Tensor(axes(), "none"))] if held else []
