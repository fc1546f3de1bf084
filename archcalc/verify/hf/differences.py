"""The first difference between a block in archcalc and in transformers, with both names."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable

from archcalc.verify.hf.ours import Block, Shape
from archcalc.verify.hf.tensors import plain

Item = tuple[str, Hashable, Shape]  # a name, what must be equal, and what is shown
Same = Callable[[Block, Block], str]


def first_difference(ours: list[Block], theirs: list[Block], same: Same) -> str:
    """Blocks are matched in order; the last entry is everything outside of blocks."""
    if len(ours) != len(theirs):
        return f"{len(ours) - 1:,} blocks against {len(theirs) - 1:,}"
    return next((said for pair in zip(ours, theirs, strict=True) if (said := same(*pair))), "")


def tensors_differ(ours: Block, theirs: Block) -> str:
    """Compares shapes, with a matrix equal to its transpose."""
    sides = ([(name, plain(shape), shape) for name, shape in side.tensors.items()] for side in (ours, theirs))
    return _told(*_unmatched(*sides))


def layers_differ(ours: Block, theirs: Block, batch: int) -> str:
    """Compares weight shapes and output sizes. A layer in archcalc may be a bare tensor in transformers."""
    counted, called = (
        [(layer.name, (plain(layer.weight), layer.size(batch)), layer.output) for layer in side.layers]
        for side in (ours, theirs)
    )
    extra, missing = _unmatched(counted, called)
    bare, _ = _unmatched(
        [(name, plain(shape), shape) for name, shape in theirs.tensors.items()],
        [(layer.name, plain(layer.weight), ()) for layer in theirs.layers],
    )
    weights = {layer.name: layer.weight for layer in ours.layers}
    alone, _ = _unmatched([(name, plain(weights[name]), shape) for name, _, shape in extra], bare)
    return _told(alone, missing)


def outputs_differ(ours: Block, theirs: Block) -> str:
    """Compares shapes, in either order of batch and sequence."""
    same = plain(ours.output) == plain(theirs.output)
    return "" if same else _told([(ours.name, "", ours.output)], [(theirs.name, "", theirs.output)])


def flops_differ(ours: Block, theirs: Block) -> str:
    """To the last one."""
    if ours.flops == theirs.flops:
        return ""
    return f"{ours.name or 'outside of blocks'} {ours.flops:,} against {theirs.name or 'there'} {theirs.flops:,}"


def answer_differs(ours: Shape, theirs: Iterable[Shape]) -> str:
    """One of the tensors that the class gives out, or the same numbers seen along other axes."""
    if any(math.prod(ours) == math.prod(shape) for shape in theirs):
        return ""
    return f"{written(ours)} against {' and '.join(map(written, theirs))}"


def _unmatched(ours: Iterable[Item], theirs: Iterable[Item]) -> tuple[list[Item], list[Item]]:
    """The items of each side without a match on the other."""
    waiting: dict[Hashable, list[Item]] = {}
    for item in theirs:
        waiting.setdefault(item[1], []).append(item)
    alone = [item for item in ours if not (waiting.get(item[1]) and waiting[item[1]].pop(0))]
    return alone, [item for items in waiting.values() for item in items]


def _told(ours: list[Item], theirs: list[Item]) -> str:
    if not (ours or theirs):
        return ""
    one, other = (f"{side[0][0]} {written(side[0][2])}" if side else "nothing" for side in (ours, theirs))
    return f"{one} against {other}"


def written(shape: Shape) -> str:
    """`2 × 10 × 64`."""
    return " × ".join(f"{size:,}" for size in shape) or "a number"
