"""Receptive fields: how many places of the input one place of a map depends on, along each side.

A window that reaches over r places, in a map whose neighbours lie s places of the input apart, adds (r − 1)·s; its
stride multiplies s. Where branches join, the largest counts. Zeros of the padding count as places.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from archcalc.core.ir import Module, Op, Tensor
from archcalc.core.windows import Along


@dataclass(frozen=True)
class Field:
    """Along one side: places of the input, of `whole` that there are, and how far apart two neighbours see."""

    whole: int
    size: Fraction = Fraction(1)
    step: Fraction = Fraction(1)

    def through(self, window: Along) -> Field:
        """Windows that spread a map add no zeros around it, so that they see no more than there is."""
        size = self.size + (window.reach - 1) * self.step
        most = max(self.size, Fraction(self.whole))
        spreads = window.step < 1 or self.step < 1
        return Field(self.whole, min(size, most) if spreads else size, self.step * window.step)


Fields = tuple[Field, ...]
Known = dict[Tensor, Fields | None]  # None: it depends on every place, as behind a linear layer


def receptive_fields(root: Module) -> dict[Tensor, tuple[int, ...]]:
    """Of every map behind a convolution or a pooling layer, in the last of equal layers that follow each other."""
    known: Known = {}
    _follow(root, known)
    return {tensor: tuple(ceil(field.size) for field in fields) for tensor, fields in known.items() if fields}


def field_of(tensor: Tensor, fields: dict[Tensor, tuple[int, ...]]) -> tuple[int, ...]:
    """A view has the field of what it is a view of; nothing where there is none."""
    return fields.get(tensor.within(fields), ())


def _follow(module: Module, known: Known) -> None:
    """As often as the module is repeated: what comes out of one is what goes into the next.

    Others may read what entered the first, so that its field is put back.
    """
    entered = {into: _of(into, known) for into, _ in module.carries}
    for turn in range(int(module.repeat)):
        for into, out in module.carries if turn else ():
            known[into] = _of(out, known)
        for item in module.body:
            if isinstance(item, Op):
                known[item.output] = _behind(item, known)
            else:
                _follow(item, known)
    known.update(entered)


def _behind(op: Op, known: Known) -> Fields | None:
    before = [_of(tensor, known) for tensor in op.inputs if _is_known(tensor, known)]
    if None in before:
        return None
    maps = [fields for fields in before if fields]
    if op.windows:
        fields = maps[0] if maps else tuple(Field(window.size) for window in op.windows)
        return tuple(field.through(window) for field, window in zip(fields, op.windows, strict=True))
    if not maps:
        return ()
    return _largest(maps) if len(op.output.axes) == 2 + len(maps[0]) else None


def _largest(maps: list[Fields]) -> Fields:
    return tuple(max(sides, key=lambda field: field.size) for sides in zip(*maps, strict=True))


def _is_known(tensor: Tensor, known: Known) -> bool:
    return tensor in known or (tensor.of is not None and _is_known(tensor.of, known))


def _of(tensor: Tensor, known: Known) -> Fields | None:
    if tensor in known:
        return known[tensor]
    return _of(tensor.of, known) if tensor.of is not None else ()
