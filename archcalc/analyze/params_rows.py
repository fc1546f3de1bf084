"""The rows of parameter counts: every module before what it holds, and how its number is worked out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from archcalc.core.count import Count, total
from archcalc.core.execution import Trainable
from archcalc.core.ir import Module, ModuleGroup, Param, walk
from archcalc.core.roles import Role


@dataclass(frozen=True)
class Row:
    """A module's subtotal, a named part of one, or a tensor. The tensors' totals add up to the model's."""

    path: str
    kind: str  # module, part, tensor
    shape: tuple[int, ...] | None
    each: Count
    repeat: Count
    total: Count
    tied_to: str | None = None
    title: str = field(default="", repr=False)
    times: int = 1
    terms: tuple[str, ...] = field(default=(), repr=False)  # as terms of a sum: its own name, of equal parts all
    trainable: int = 0  # of the total
    role: Role | None = None  # of a tensor: what it does in its layer
    group: ModuleGroup | None = None  # the end of the model that a tensor belongs to


def one_copy(module: Module) -> Count:
    """The parameters of one copy, worked as a person would: layers of weights written out, anything larger by its
    subtotals."""
    own = [param.elements for param in module.params.values()]
    children = [child for child in module.children if holds_params(child)]
    if not own and len(children) == 1 and children[0].repeat == 1:  # what only wraps another says no more than it
        return one_copy(children[0])
    if all(not any(map(holds_params, child.children)) for child in children):
        return total([total(own), *(child.repeat * one_copy(child) for child in children)])
    return total([*own, *map(_as_term, children)])


def _as_term(module: Module) -> Count:
    """`12 × 4,203,264`: a stack that holds nothing but its blocks is written as its blocks."""
    children = [child for child in module.children if holds_params(child)]
    if not module.params and len(children) == 1 and children[0].repeat > 1:
        return module.repeat * _as_term(children[0])
    return module.repeat * Count.named(module.words.term, one_copy(module), subtotal=True)


def holds_params(module: Module) -> bool:
    return any(inner.params for inner, _ in walk(module))


def rows_of(module: Module, above: Count, trains: Trainable) -> Iterator[Row]:
    """A module before what it holds; its parts and tensors before its children."""
    repeat, inside = above * module.repeat, list(walk(module))
    if module.parent and not any(inner.params or any(_tied(inner)) for inner, _ in inside):
        return
    each, path = one_copy(module), module.path
    trained = [(copies, param) for inner, copies in inside for param in inner.params.values() if trains(param)]
    yield Row(
        path or "model",
        "module",
        None,
        *(each, repeat, repeat * each),
        title=module.words.full_name,
        times=module.repeat,
        terms=(module.words.term,),
        trainable=int(above) * sum(int(copies) * int(param.elements) for copies, param in trained),
    )
    prefix = f"{path}." if path else ""
    for part in module.words.parts:
        title = part.name.replace("_", " ")
        size = part.elements, repeat, repeat * part.elements
        yield Row(prefix + part.name, "part", part.shape, *size, title=title, terms=(title,))
    for name, param in module.params.items():
        yield Row(
            prefix + name,
            "tensor",
            param.shape,
            *(param.elements, repeat, repeat * param.elements),
            title=name,
            terms=(name,),
            trainable=int(repeat * param.elements) * trains(param),
            role=param.weight_role,
            group=module.group,
        )
    for param in _tied(module):
        owner = f"{param.owner.path}.{param.name}"
        yield Row(prefix + param.name, "tensor", param.shape, Count(0), repeat, Count(0), owner, title=param.name)
    for child in module.children:
        yield from rows_of(child, repeat, trains)


def _tied(module: Module) -> Iterator[Param]:
    """Parameters of another module that this one computes with."""
    used = {tensor: None for op in module.ops for tensor in op.inputs if isinstance(tensor, Param)}
    own = module.parent if module.is_section else module  # a section uses the parameters of its parent
    return (param for param in used if param.owner is not own)
