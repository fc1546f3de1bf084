"""The forward pass cut into steps that people name: a projection, the scores, the softmax, a sum.

A step ends with an op that counts for something: a matrix product, a norm, an activation, a pool, whatever has a name.
Ops on the way to it (scales, masks, views) belong to it; a bias belongs to the product in front of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.op_pictures import PICTURES


@dataclass(eq=False)
class Step:
    """Some ops of one module, in their order; none for parameters that nothing reads."""

    module: Module  # no section
    ops: list[Op]
    params: list[Param] = field(default_factory=list)  # those that are read here first

    @property
    def made(self) -> Op | None:
        """The op that makes its output: the last one that makes a tensor for others to read."""
        making = [op for op in self.ops if not is_shown(op)]
        return next((op for op in reversed(making) if op.output.role != "cache"), making[-1] if making else None)

    @property
    def main(self) -> Op | None:
        """What the step is called after: what makes its output, but for a bias that is added at the end."""
        found, makes = self.made, self.makes
        while found and is_bias(found, self):
            read = (tensor.within(makes) for tensor in found.inputs)
            found = next(makes[tensor] for tensor in read if tensor in makes)
        return found

    @property
    def shown(self) -> Op | None:
        """A shape to look at, such as that of one head."""
        return next((op for op in reversed(self.ops) if is_shown(op)), None)

    @property
    def makes(self) -> dict[Tensor, Op]:
        """Ops by what they make, be it a storage or a view."""
        return {tensor: op for op in self.ops for tensor in (*op.beside.values(), op.output)}

    def holds(self, tensor: Tensor) -> bool:
        return tensor.within(self.makes) in self.makes


def is_shown(op: Op) -> bool:
    """It makes no tensor, and is there to be looked at."""
    return not (op.traits.allocates or op.traits.view or op.traits.enters)


def steps(root: Module) -> list[Step]:
    """In the order of the forward pass, each once however often it runs; every op and every parameter is in one."""
    found: list[Step] = []
    ahead: list[Op] = []  # ops on the way to the next step
    for module, ops in groupby(_ops_of(root), key=lambda each: each[0]):
        here: list[Step] = []
        for _, op in ops:
            if _ends_a_step(op):
                here.append(Step(module, [*ahead, op]))
                ahead = []
            elif here and not ahead and (is_shown(op) or is_bias(op, here[-1])):
                here[-1].ops.append(op)
            else:
                ahead.append(op)
        is_all = not here and not any(isinstance(item, Module) for item in module.body)  # a flattening, a dropout layer
        if ahead and (is_all or not all(PICTURES[op.kind].unseen for op in ahead)):
            _close(here, module, ahead)
            ahead = []
        found += here
    if ahead:
        _close(found, root, ahead)
    return [*_with_params(found), *_never_read(root, found)]


def _ops_of(module: Module) -> Iterator[tuple[Module, Op]]:
    """Every op with its module, or with that which the section around it is of."""
    own = module.parent if module.is_section and module.parent else module
    while own.is_section and own.parent:
        own = own.parent
    for item in module.body:
        if isinstance(item, Module):
            yield from _ops_of(item)
        else:
            yield own, item


def _ends_a_step(op: Op) -> bool:
    if is_shown(op):
        return False
    kind, picture = op.traits, PICTURES[op.kind]
    weighs = kind.matrix or kind.softmax or kind.own_kernel or kind.enters or picture.part
    return bool(op.name or (weighs and not picture.unseen))


def is_bias(op: Op, before: Step) -> bool:
    reads_param = any(isinstance(tensor.storage, Param) for tensor in op.inputs)
    return op.traits.joins_product and reads_param and any(before.holds(tensor) for tensor in op.inputs)


def _close(here: list[Step], module: Module, ahead: list[Op]) -> None:
    """What is left of a module's ops goes on from its last step, or is a step of its own."""
    if here and any(here[-1].holds(tensor) for op in ahead for tensor in op.inputs):
        here[-1].ops += ahead
    else:
        here.append(Step(module, ahead))


def _with_params(found: list[Step]) -> list[Step]:
    seen: set[Param] = set()
    for step in found:
        read = [tensor.storage for op in step.ops for tensor in op.inputs]
        step.params = [each for each in dict.fromkeys(read) if isinstance(each, Param) and each not in seen]
        seen.update(step.params)
    return found


def _never_read(root: Module, found: list[Step]) -> Iterator[Step]:
    """Modules with parameters that are stored and that this pass does not read."""
    read = {param for step in found for param in step.params}
    for module, _ in walk(root):
        if left := [param for param in module.params.values() if param not in read]:
            yield Step(module, [], left)
