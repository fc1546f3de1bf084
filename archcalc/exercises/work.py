"""The steps of a count of FLOPs: the matrix products of a forward pass, op by op, layer by layer."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from archcalc.core.ir import Module, Op, Param, Region
from archcalc.exercises.steps import Step, Term, Way, kind_of, subtotals

BATCH = "batch"


def flops_steps(module: Module) -> Step:
    """One run of a module: its own products, and those of what it holds, as often as that runs."""
    held = [child for child in _layers(module) if _has_products(child)]
    steps = tuple((child.runs, flops_steps(child)) for child in held)
    terms = tuple(Term(op.traits.flops(op), 0, op.name or op.kind, places=_places(op)) for op in _own_ops(module))
    return Step(
        name=f"{module.path}.{_section(module)}" if module.is_section else module.path or "model",
        title=_title(module),
        count=subtotals(terms, steps),
        ways=(Way(terms, steps),),
        copies=int(module.runs),
        kind=kind_of(module),
    )


def _places(op: Op) -> int:
    """Where a layer's weights are used: at every pixel of a map, or at every position. Those have no axis for it."""
    weights = [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]
    own = {dim.name for weight in weights for dim in weight.dims} | {BATCH}
    return prod(int(dim.size) for dim in op.output.dims if weights and dim.name not in own)


def _section(module: Module) -> str:
    return module.name.removesuffix(" (section)")


def _is_flat(module: Module) -> bool:
    """A section whose products count as those of its module: no loop, and not attention between its projections."""
    return module.is_section and module.region != Region.CORE and module.runs == 1


def _title(module: Module) -> str:
    if module.region == Region.CORE:
        return "scores and weighted values"
    if module.is_section:
        return _section(module)
    return module.words.title if module.path else "the whole forward pass"


def _layers(module: Module) -> Iterator[Module]:
    """Layers, and attention between its projections, which people ask for by itself."""
    for child in module.children:
        if _is_flat(child):
            yield from _layers(child)
        else:
            yield child


def _own_ops(module: Module) -> Iterator[Op]:
    """Matrix products of a module and of its sections."""
    for item in module.body:
        if isinstance(item, Op):
            if item.traits.matrix:
                yield item
        elif _is_flat(item):
            yield from _own_ops(item)


def _has_products(module: Module) -> bool:
    return any(_own_ops(module)) or any(_has_products(child) for child in _layers(module))
