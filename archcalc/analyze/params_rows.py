"""The rows of parameter counts: every module before what it holds, and how its number is worked out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from archcalc.analyze.diagram.graph import PartKind
from archcalc.analyze.diagram.kinds import of_weights
from archcalc.core.count import Count, total
from archcalc.core.execution import Trainable
from archcalc.core.ir import Module, Param, fold, walk


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
    raised: int = 0  # levels above it that are not shown
    terms: tuple[str, ...] = field(default=(), repr=False)  # as terms of a sum: its own name, of equal parts all
    trainable: int = 0  # of the total
    part: PartKind = PartKind.OTHER  # what kind of part of a model it is, or belongs to

    @property
    def depth(self) -> int:
        return self.path.count(".") - self.raised


def count_where(root: Module, wanted: Trainable) -> Count:
    return fold(root, lambda module: sum(int(p.elements) for p in module.params.values() if wanted(p)))


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
    return module.repeat * Count.named(module.term, one_copy(module), subtotal=True)


def holds_params(module: Module) -> bool:
    return any(inner.params for inner, _ in walk(module))


def rows_of(module: Module, above: Count, trains: Trainable) -> Iterator[Row]:
    """A module before what it holds; its parts and tensors before its children."""
    repeat = above * module.repeat
    tied = list(_tied(module))
    is_used = holds_params(module) or tied or any(any(_tied(inner)) for inner, _ in walk(module))
    if module.parent and not is_used:
        return
    each = one_copy(module)
    path = module.path
    size = each, repeat, repeat * each
    kind, title, all_trained = of_weights(module), module.full_name, int(above * count_where(module, trains))
    yield Row(
        path or "model",
        "module",
        None,
        *size,
        title=title,
        times=module.repeat,
        terms=(module.term,),
        trainable=all_trained,
        part=kind,
    )
    prefix = f"{path}." if path else ""
    for part in module.parts:
        title = part.name.replace("_", " ")
        size = part.elements, repeat, repeat * part.elements
        yield Row(prefix + part.name, "part", part.shape, *size, title=title, terms=(title,))
    for name, param in module.params.items():
        size = param.elements, repeat, repeat * param.elements
        trained = int(size[-1]) if trains(param) else 0
        yield Row(prefix + name, "tensor", param.shape, *size, title=name, terms=(name,), trainable=trained, part=kind)
    for param in tied:
        owner = f"{param.owner.path}.{param.name}"
        yield Row(prefix + param.name, "tensor", param.shape, Count(0), repeat, Count(0), owner, title=param.name)
    for child in module.children:
        yield from rows_of(child, repeat, trains)


def _tied(module: Module) -> Iterator[Param]:
    """Parameters of another module that this one computes with."""
    used = {tensor: None for op in module.ops for tensor in op.inputs if isinstance(tensor, Param)}
    own = module.parent if module.is_section else module  # a section uses the parameters of its parent
    return (param for param in used if param.owner is not own)
