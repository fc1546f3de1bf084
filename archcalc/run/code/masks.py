"""Masks of attention, made once in each forward pass: bools, or numbers that are added to stored scores.

A kernel hides later positions by itself; where it looks through a window, it is given bools. Source: transformers,
masking_utils.py: eager_mask and sdpa_mask, with and_masks for windows.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes, walk
from archcalc.run.code.efficient import lower_masked
from archcalc.run.code.writing import Lines

BOOLS, NUMBERS = "mask", "index"


def lower_masks(stack: Module, batch: Dim, *, narrow: bool, every: bool = False) -> tuple[list[Op], list[Tensor]]:
    """The lines that make every mask of a stack, and these masks, which its layers read; `every`: also one without a
    window, which no layer reads."""
    masks = _Masks(batch)
    for module, _ in walk(stack):
        module.body[:] = [new for item in module.body for new in masks.read_by(item)]
    if every:
        masks.add_whole()
    found = sorted(masks.made.items(), key=lambda one: one[0][1] is not None)  # those of windows are made last
    lines = [line for (_, sees), mask in found for line in _made(mask, batch, sees, narrow=narrow)]
    return lines, [mask for _, mask in found]


@dataclass(frozen=True)
class _Masks:
    """By shape and window."""

    batch: Dim
    made: dict[tuple[tuple[Dim, ...], int | None], Tensor] = field(default_factory=dict)

    def read_by(self, item: Op | Module) -> list[Op | Module]:
        if isinstance(item, Module):
            return [item]
        if item.traits.hides and self.batch not in item.inputs[1].dims:  # the same mask for every sequence
            scores, mask = item.inputs
            return [replace(item, kind="add", inputs=(scores, self._of(mask.dims, item.sees, scores.role)))]
        return [*self._by_kernel(item)]

    def _by_kernel(self, op: Op) -> list[Op]:
        """A window that is wider than the sequence needs no mask (_ignore_causal_mask_sdpa)."""
        if not op.traits.attention_kernel or op.sees is None or op.sees > op.inputs[1].dims[2].size:
            return [op]
        seq, past = op.inputs[0].dims[2], op.inputs[1].dims[2]
        return lower_masked(op, self._of((seq, past), op.sees, BOOLS))

    def add_whole(self) -> None:
        """Beside each mask of numbers with a window."""
        for (dims, sees), mask in list(self.made.items()):
            if sees is not None and mask.role != BOOLS:
                self._of(dims, None, mask.role)

    def _of(self, dims: tuple[Dim, ...], sees: int | None, role: str) -> Tensor:
        """Bools are the same for every sequence, numbers are written for each."""
        shape = axes(*dims) if role == BOOLS else axes(self.batch, *dims)
        return self.made.setdefault((dims, sees), Tensor(shape, role))


def _made(mask: Tensor, batch: Dim, sees: int | None, *, narrow: bool) -> list[Op]:
    *_, seq, past = mask.dims
    seen = mask if mask.role == BOOLS else Tensor(axes(seq, past), BOOLS)
    lines = Lines(narrow=narrow)
    lines.hold(*(lines.do("constant", to=axes(dim), role=NUMBERS) for dim in (batch, Dim.of("one", 1))))
    rows, columns = (lines.do("add", lines.do("constant", to=axes(dim), role=NUMBERS)) for dim in (seq, past))
    if sees is None:
        lines.do("constant", rows, columns, into=seen)
    else:
        _look_through_window(lines, rows, columns, seen)
    lines.hold(rows, columns)
    return [*lines.scope(), *(_in_numbers(seen, mask) if mask is not seen else [])]


def _look_through_window(lines: Lines, rows: Tensor, columns: Tensor, into: Tensor) -> None:
    """True, and not too far back, and not later."""
    shape = into.axes
    result = lines.do("constant", to=axes(), role=BOOLS)
    near = lines.do("constant", lines.do("constant", rows), columns, to=shape, role=BOOLS)
    result = lines.do("constant", result, near, to=shape, role=BOOLS)
    lines.do("constant", result, lines.do("constant", rows, columns, to=shape, role=BOOLS), into=into)


def _in_numbers(seen: Tensor, mask: Tensor) -> list[Op]:
    """0 where a position is seen and the lowest number elsewhere, for every sequence."""
    lines = Lines(narrow=False)
    zero, lowest = (lines.do("constant", to=axes(), role=mask.role) for _ in range(2))
    lines.do("constant", seen, zero, lowest, into=mask)
    return lines.ops
