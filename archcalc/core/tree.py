"""Traversals of the module tree: the ancestors of a module, and all ops below it."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.ir import Module, Op, Region, Tensor


def ancestors(module: Module | None) -> Iterator[Module]:
    """The module itself, then its ancestors up to the root."""
    while module:
        yield module
        module = module.parent


def enclosing(module: Module, region: Region) -> Module | None:
    """The innermost region of that kind that is or contains the module."""
    return next((above for above in ancestors(module) if above.region == region), None)


def ops_in(module: Module) -> Iterator[Op]:
    """Every op of a module and of those below it, once each, in order."""
    for item in module.body:
        if isinstance(item, Module):
            yield from ops_in(item)
        else:
            yield item


def read_from_outside(module: Module) -> list[Tensor]:
    """The external inputs of a module: tensors its ops read and none of them made, in the order of first use."""
    inside = list(ops_in(module))
    made = {op.output.storage for op in inside}
    return list(dict.fromkeys(tensor for op in inside for tensor in op.inputs if tensor.storage not in made))


def computed_earlier(root: Module) -> frozenset[Tensor]:
    """Storages that a decode step reads but does not compute: what its skipped modules made, which is in the cache."""
    return frozenset(op.output.storage for module in _skipped(root) for op in ops_in(module))


def _skipped(module: Module) -> Iterator[Module]:
    """The topmost modules that do not run."""
    if not module.runs:
        yield module
        return
    for child in module.children:
        yield from _skipped(child)
