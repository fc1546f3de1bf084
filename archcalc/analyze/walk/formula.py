"""The formula of a step, put together from its ops: `softmax(mask(1/√head_dim·q·kᵀ))`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from archcalc.core.ir import Op, Param, Role, Tensor
from archcalc.core.op_formulas import CALL, FORMULAS, Formula
from archcalc.core.op_pictures import PICTURES

SUM, PRODUCT, ATOM = 1, 2, 3  # how strongly a formula holds together
LONGEST = 110  # of a formula that is read in one line
_LETTERS = {"weight": "W", "bias": "b"}
_OF_NORM = {"weight": "γ", "bias": "β"}


@dataclass(frozen=True)
class Written:
    """A formula of ops that read one another; `name` says what a tensor from outside is called."""

    ops: Mapping[Tensor, Op]  # by the storage or the view that they make
    name: Callable[[Tensor], str]

    @classmethod
    def of(cls, ops: Sequence[Op], name: Callable[[Tensor], str]) -> Written:
        return cls({op.output: op for op in ops}, name)

    def text(self, tensor: Tensor, room: int = SUM) -> str:
        """In brackets where what stands around it would otherwise pull it apart."""
        inner, strength = self._parts(tensor)
        return f"({inner})" if strength < room else inner

    def _parts(self, tensor: Tensor) -> tuple[str, int]:
        made: Tensor | None = tensor
        while made is not None and made not in self.ops:
            made = made.of
        if made is None:
            return (letter(tensor.storage) if isinstance(tensor.storage, Param) else self.name(tensor)), ATOM
        return self._written(self.ops[made])

    def _written(self, op: Op) -> tuple[str, int]:
        inputs = [each for each in op.inputs if op.traits.contraction or each.role not in ("mask", "index")] or op.inputs
        if not inputs:
            return op.name.replace("_", " ") or PICTURES[op.kind].word or op.kind.replace("_", " "), ATOM
        if op.traits.contraction:
            return self._product(op), PRODUCT
        if PICTURES[op.kind].part == "norm":
            return self._norm(op)
        way = FORMULAS.get(op.kind, CALL)
        if way.of_one and len(inputs) == 1:
            way = way.of_one
        return self._filled(way, op, inputs)

    def _product(self, op: Op) -> str:
        """Of two matrices with a ᵀ where the second is summed along its rows; ⋆ moves a window over a map."""
        first, *others = op.inputs
        moves = any(param.weight_role is Role.CONVOLUTION for param in others if isinstance(param, Param))
        texts = [self.text(each, PRODUCT) for each in op.inputs]
        if len(others) == 1 and not isinstance(others[0].storage, Param) and op.over and others[0].axes:
            texts[1] += "ᵀ" if {*others[0].axes[-1]} == {*op.over} else ""
        return (" ⋆ " if moves else "·").join(texts)

    def _norm(self, op: Op) -> tuple[str, int]:
        x, *weights = (self.text(each) for each in op.inputs)
        gain, shift = [f"{each} ∗ " for each in weights[:1]], [f" + {each}" for each in weights[1:2]]
        return "".join([*gain, f"norm({x})", *shift]), SUM if shift else PRODUCT

    def _filled(self, way: Formula, op: Op, inputs: Sequence[Tensor]) -> tuple[str, int]:
        word = way.word or PICTURES[op.kind].word or op.kind.replace("_", " ")
        texts = [self.text(each, way.room) for each in inputs]
        if way.between:
            return (way.between.join(texts), way.strength) if len(texts) > 1 else self._parts(inputs[0])
        return way.text.format(*texts, all=", ".join(texts), word=word, note=op.note or "c"), way.strength


def letter(param: Param) -> str:
    """`W_q`, `b_q`: as textbooks write it, with the name of its layer."""
    usual = _OF_NORM if param.weight_role is Role.NORM else _LETTERS
    letters = usual.get(param.name, param.name)
    owner = param.owner.name if param.owner.parent and param.name in usual else ""
    return f"{letters}_{owner}" if owner else letters
