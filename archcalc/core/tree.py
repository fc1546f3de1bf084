"""Traversals of the module tree: the region around a module, all ops below it, its inputs and its output."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.core.ir import Module, Op, Region, Tensor


def enclosing(module: Module, region: Region) -> Module | None:
    """The innermost region of that kind that is or contains the module."""
    return next((above for above in module.ancestry if above.region == region), None)


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


def given_out(module: Module) -> Tensor | None:
    """The declared output, or the output of the last op."""
    if module.carries:
        return module.carries[0][1]
    last = _last_op(module)
    return last.output if last else None


def _last_op(module: Module) -> Op | None:
    """Cached or displayed tensors are not outputs, a loss belongs to no layer, and last states come with outputs.

    None where the last thing is a step of every position: what is made of all its outputs is not told.
    """
    for item in reversed(module.body):
        if isinstance(item, Module) and item.region != Region.LOSS:
            return _last_op(item) if item.calls == 1 and item.region != Region.STEP else None
        if isinstance(item, Op) and not item.is_aside and item.output.role != "cache":
            makes_something = item.traits.allocates or item.traits.view
            if makes_something:
                return item
    return None


def taken_in(module: Module, computed: frozenset[Tensor]) -> list[Tensor]:
    """The signals that a module reads: what enters the model within it, and storages `computed` outside it.

    Constants, such as masks and angles, are no signals.
    """
    found: dict[Tensor, Tensor] = {}
    made: set[Tensor] = set()
    for op in ops_in(module):
        entering = [op.output] if op.traits.enters else []
        outer = [tensor for tensor in op.inputs if tensor.storage in computed and tensor.storage not in made]
        for tensor in (*entering, *outer):
            found.setdefault(tensor.storage, tensor)
        made.add(op.output.storage)
    return list(found.values())


def signals_of(root: Module) -> frozenset[Tensor]:
    """Storages that the forward pass computes, or that enter it: all but constants and zeros to start from."""
    return frozenset(op.output.storage for op in ops_in(root) if op.inputs or op.traits.enters)


def computed_earlier(root: Module) -> frozenset[Tensor]:
    """Storages that a decode step reads but does not compute: what its skipped modules made, which is in the cache."""
    found, left = set[Tensor](), [root]
    while left:
        module = left.pop()
        if module.runs:
            left.extend(module.children)
        else:
            found.update(op.output.storage for op in ops_in(module))
    return frozenset(found)
