"""Parameter counts: the rows, every module before what it holds and how its number is worked out, and the figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import prod

from archcalc.core.count import Count, total
from archcalc.core.execution import Trainable, by_spec
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
    own, children = [param.elements for param in module.params.values()], holding(module)
    if not own and len(children) == 1 and children[0].repeat == 1:  # what only wraps another says no more than it
        return one_copy(children[0])
    if not any(map(holding, children)):
        return total([total(own), *(child.repeat * one_copy(child) for child in children)])
    for child in children:
        times, inside = child.repeat, holding(child)
        # `12 × 4,203,264`: a stack that holds nothing but its blocks is written as its blocks
        while not child.params and len(inside) == 1 and inside[0].repeat > 1:
            child, times = inside[0], times * inside[0].repeat
            inside = holding(child)
        own.append(times * Count.named(child.words.term, one_copy(child), subtotal=True))
    return total(own)


def holding(module: Module) -> list[Module]:
    """Its children that have parameters, themselves or inside."""
    return [child for child in module.children if any(inner.params for inner, _ in walk(child))]


def rows_of(module: Module, above: Count, trains: Trainable) -> Iterator[Row]:
    """A module before what it holds; its parts and tensors before its children."""
    repeat, inside = above * module.repeat, list(walk(module))
    tied = dict.fromkeys(  # parameters of another module that this one, or one inside it, computes with
        (inner, tensor)
        for inner, _ in inside
        for op in inner.ops
        for tensor in op.inputs
        if isinstance(tensor, Param)
        and tensor.owner is not (inner.parent if inner.is_section else inner)  # a section uses those of its parent
    )
    if module.parent and not tied and not any(inner.params for inner, _ in inside):
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
    for param in (param for inner, param in tied if inner is module):
        owner = f"{param.owner.path}.{param.name}"
        yield Row(prefix + param.name, "tensor", param.shape, Count(0), repeat, Count(0), owner, title=param.name)
    for child in module.children:
        yield from rows_of(child, repeat, trains)


@dataclass
class Tally:
    """Elements in all copies of all layers."""

    trainable: int = 0
    non_embedding: int = 0  # in no look-up table and no untied output layer
    active: int = 0  # per token: selected experts and everything else; embedding tables count in full, as usual
    active_non_embedding: int = 0
    buffers: int = 0
    scales: int = 0  # with zeros and indices, beside packed weights of a file
    bytes_in_file: int = 0
    groups: Counter[ModuleGroup | None] = field(default_factory=Counter)


def tally(root: Module, trains: Trainable = by_spec) -> Tally:
    found = Tally()
    for module, times in walk(root):
        copies, params, buffers = int(times), module.params.values(), module.buffers.values()
        is_output = any(param.weight_role is Role.HEAD for param in params)  # over the vocabulary, with its bias
        for param in params:
            size = copies * int(param.elements)
            met = size if param.active is None else copies * int(param.active)
            inside = not (param.weight_role.is_table or is_output)
            found.trainable += size * trains(param)
            found.non_embedding += size * inside
            found.active += met
            found.active_non_embedding += met * inside
            found.groups[module.group] += size
        found.scales += copies * sum(prod(one.shape) for one in buffers if one.role == "scale")
        found.buffers += copies * sum(prod(one.shape) for one in buffers if one.role != "scale")
        found.bytes_in_file += copies * sum(one.stored or 0 for one in (*params, *buffers))
    return found
