"""A learned bias for each distance of two positions, computed in the first block and handed on to the others.

Source: transformers, T5Attention.compute_bias and _relative_position_bucket.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor, axes, walk
from archcalc.run.code.writing import Lines, end_of_scope

NUMBERS, BOOLS, FLOATS = "index", "mask", "stat"
ZEROS = "zeros"


def in_first_block(attention: Module, before: Module, ops: list[Op]) -> None:
    """Ops that stand in front of attention's core, in the first of equal blocks alone."""
    section = attention.section("first block")
    section.is_first_only = True
    section.body.extend(ops)
    attention.body.insert(attention.body.index(before), section)


def zeros_in_first_block(attention: Module, before: Module, zeros: Tensor) -> None:
    """In the place of a bias that a layer has none of."""
    in_first_block(attention, before, [Op(ZEROS, (), zeros)])


def want_gradients(root: Module) -> None:
    """`position_bias.requires_grad = True` where blocks are recomputed. Source: transformers, T5Attention.forward."""
    for module, _ in walk(root):
        if module.is_first_only:
            module.body[:] = [_as_leaf(item) for item in module.body]


def _as_leaf(item: Op | Module) -> Op | Module:
    return replace(item, kind="leaf") if isinstance(item, Op) and item.kind == ZEROS else item


def distances(places: Tensor, *, causal: bool) -> tuple[list[Op], list[Tensor]]:
    """The bucket of every distance, that is, the rows of a table that are looked up; and what is held meanwhile."""
    seq, past = places.dims
    lines = Lines(narrow=True)
    context = lines.do("add", lines.do("constant", to=axes(seq), role=NUMBERS))
    memory = lines.do("constant", to=axes(past), role=NUMBERS)
    relative = lines.do("subtract", memory, context, to=places.axes)
    inner = _buckets(relative, places, causal=causal)
    return [*lines.ops, *inner], [context, memory, relative, places]


def _buckets(relative: Tensor, into: Tensor, *, causal: bool) -> list[Op]:
    lines = Lines(narrow=True)
    if causal:
        distance = lines.do("scale", lines.do("add", relative, lines.do("constant", relative)))
    else:
        ahead = lines.do("cast", lines.do("constant", relative, role=BOOLS), role=NUMBERS)
        lines.do("add", lines.do("scale", ahead), into=into)
        distance = lines.do("scale", relative)
    small = lines.do("constant", distance, role=BOOLS)
    large = _logarithmic(lines, distance)
    chosen = lines.do("constant", small, distance, large, to=into.axes, role=NUMBERS)
    if causal:
        lines.do("add", chosen, into=into)
    else:
        lines.ops.extend(end_of_scope(into, chosen))  # added in place
    lines.hold(distance, small, large)
    return lines.scope()


def _logarithmic(lines: Lines, distance: Tensor) -> Tensor:
    """Buckets that grow with the distance, up to the last one."""
    found = lines.do("cast", distance, role=FLOATS)
    for _ in range(4):  # divided, its logarithm, divided and multiplied
        found = lines.do("scale", found)
    found = lines.do("add", lines.do("cast", found, role=NUMBERS))
    return lines.do("constant", found, lines.do("constant", found))
