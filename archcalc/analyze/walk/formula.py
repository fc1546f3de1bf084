"""The formula of a step, put together from its ops: `softmax(mask(1/√head_dim·q·kᵀ))`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from archcalc.analyze.walk.sides import is_moved
from archcalc.core.ir import Op, Param, Role, Tensor
from archcalc.core.op_formulas import CALL, FORMULAS, Formula
from archcalc.core.op_pictures import PICTURES

SUM, PRODUCT, ATOM = 1, 2, 3  # how strongly a formula holds together
LONGEST = 110  # of a formula that is read in one line
_LETTERS = {"weight": "W", "bias": "b"}
_OF_NORM = {"weight": "γ", "bias": "β"}


@dataclass(frozen=True)
class Written:
    """A formula of ops that read one another; `name` says what a tensor from outside is called: constants nothing."""

    ops: Mapping[Tensor, Op]  # by what they make
    name: Callable[[Tensor], str]

    @classmethod
    def of(cls, ops: Sequence[Op], name: Callable[[Tensor], str]) -> Written:
        return cls({op.output: op for op in ops}, name)

    def text(self, tensor: Tensor, room: int = SUM) -> str:
        """In brackets where what stands around it would otherwise pull it apart."""
        inner, strength = self._parts(tensor)
        return f"({inner})" if strength < room else inner

    def _parts(self, tensor: Tensor) -> tuple[str, int]:
        made = tensor.within(self.ops)
        if made in self.ops:
            return self._written(self.ops[made])
        return letter(made) if isinstance(made, Param) else self.name(tensor), ATOM

    def _written(self, op: Op) -> tuple[str, int]:
        if op.traits.contraction:
            return self._product(op), PRODUCT
        unsaid = ("mask",) if op.traits.reads_rows else ("mask", "index")  # which numbers, and none themselves
        inputs = [each for each in op.inputs if each.role not in unsaid and self.text(each)]
        if not inputs:
            return op.name.replace("_", " ") or PICTURES[op.kind].word or op.kind.replace("_", " "), ATOM
        if PICTURES[op.kind].part == "norm":
            return self._norm(op)
        way = FORMULAS.get(op.kind, CALL)
        if way.of_one and len(inputs) == 1:
            way = way.of_one
        return self._filled(way, op, inputs)

    def _product(self, op: Op) -> str:
        """Of two matrices with a ᵀ where the second is summed along its rows; ⋆ moves a window over a map."""
        others = op.inputs[1:]
        texts = [self.text(each, PRODUCT) or "constants" for each in op.inputs]
        second = others[0].storage if len(others) == 1 else None
        is_weight = isinstance(second, Param) and not second.weight_role.is_table  # written as on paper
        if second and not is_weight and op.over and {*others[0].axes[-1]} == {*op.over}:
            texts[1] += "ᵀ"
        return (" ⋆ " if is_moved(op) else "·").join(texts)

    def _norm(self, op: Op) -> tuple[str, int]:
        x, *weights = (self.text(each) for each in op.inputs)
        gain, shift = [f"{each} ∗ " for each in weights[:1]], [f" + {each}" for each in weights[1:2]]
        return "".join([*gain, f"norm({x})", *shift]), SUM if shift else PRODUCT

    def _filled(self, way: Formula, op: Op, inputs: Sequence[Tensor]) -> tuple[str, int]:
        word = PICTURES[op.kind].word or op.kind.replace("_", " ")
        texts = [self.text(each, way.room) for each in inputs]
        if way.between:
            return (way.between.join(texts), way.strength) if len(texts) > 1 else self._parts(inputs[0])
        return way.text.format(*texts, all=", ".join(texts), word=word, note=op.note or "c"), way.strength


def letter(param: Param) -> str:
    """`W_q`, `b_q`: as textbooks write it, with the name of its layer."""
    usual = _OF_NORM if param.weight_role is Role.NORM else _LETTERS
    letters = usual.get(param.name, param.name)
    named = usual is _LETTERS and param.name in usual
    owner = param.owner.name if param.owner.parent and named else ""
    return f"{letters}_{owner}" if owner else letters
