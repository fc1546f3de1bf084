"""The report of `archcalc params`: how many parameters, layer by layer, and how each number is worked out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from math import prod
from typing import Any, ClassVar

from archcalc.analyze.equations import Block, tables
from archcalc.core.count import Count, total
from archcalc.core.execution import Trainable, by_spec
from archcalc.core.ir import Module, ModuleGroup, Param, walk
from archcalc.core.roles import Role
from archcalc.report.base import Figure, Report, given
from archcalc.report.table import Column, Line, Table, Working, cells_of, in_tables, keys
from archcalc.report.tree import outline
from archcalc.spec.scope import LeftOut

USUAL_DEPTH = 4  # down to the projections of attention and feed-forward layers
LONGEST_TITLE = 30  # of parts in one line, at the usual width of a terminal
OF_PARTS = 4  # columns that a named part has: not its share
NOT_COUNTED = "not counted as parameters"
WITH_MTP = "with multi-token prediction"
WITH_TABLES = "with MTP and its own tables"  # a token table and a head, as checkpoints store them once more
NUMBERS = (  # of the record
    *("total", "trainable", "frozen", "adapters", "non_embedding", "without_head"),
    *("active", "active_non_embedding", "bytes", "buffers"),
)


@dataclass(frozen=True)
class ParamsReport(Report):
    command: ClassVar[str] = "params"
    chart: ClassVar[str] = "icicle"
    total: Count
    trainable: int
    frozen: int
    non_embedding: int
    without_head: int
    active: int  # all but the experts that a token does not visit
    active_non_embedding: int
    bytes: int
    buffers: int
    groups: dict[str, int]
    precision: str
    rows: tuple[Row, ...]
    adapters: Count = field(default_factory=lambda: Count(0))  # LoRA's, which are part of the total
    trained_as: str = ""  # where that was asked for: `LoRA r8 on q, v`
    stored: int | None = None  # bytes as a quantised checkpoint keeps them
    scales: int = 0  # with zeros and indices, beside packed weights of a file
    depth: int = USUAL_DEPTH
    equations: tuple[Block, ...] = ()
    explain: bool = False
    names: bool = False

    def title(self) -> str:
        return " · ".join(filter(None, (self.model, self.trained_as)))

    def answer(self) -> str:
        """What is trained, where that was asked for."""
        if not self.trained_as:
            return ""
        return f"{self.trainable:,} of {self.total:,} parameters trainable · {100 * self.trainable / self.total:.4f} %"

    def figures(self) -> Sequence[Figure]:
        groups = [(count, Figure(name, count)) for name, count in self.groups.items()]
        left_out = [part for part in self.scope.left_out if part.copies is not None]
        is_grouped, has_experts = any(self.groups.values()), self.active != self.total
        own = "it has no weights of its own" if self.without_head == self.total else ""
        listed: list[tuple[object, Figure]] = [
            (True, Figure("parameters", self.total)),
            (has_experts, Figure("active per token", self.active)),
            *((part.parameters, Figure(WITH_MTP, self.total + (part.parameters or 0))) for part in left_out),
            *((part.copies, Figure(WITH_TABLES, self.total + _all_of(part))) for part in left_out),
            *groups,
            (self.adapters, Figure("LoRA adapters", self.adapters)),
            (self.frozen, Figure("trainable", self.trainable)),
            (self.frozen, Figure("frozen", self.frozen)),
            (is_grouped, Figure("without output layer", self.without_head, note=own)),
            (is_grouped, Figure("non-embedding", self.non_embedding)),
            (has_experts, Figure("non-embedding, active", self.active_non_embedding)),
            (True, Figure(f"bytes in {self.precision}", self.bytes, "bytes")),
            (self.stored is not None, Figure("bytes as stored", self.stored, "bytes")),
            (self.scales, Figure("scales and zeros", self.scales, note=NOT_COUNTED)),
            (self.buffers, Figure("buffers", self.buffers, note=NOT_COUNTED)),
        ]
        return [figure for wanted, figure in listed if wanted]

    def columns(self) -> Sequence[Column[Row]]:
        frozen = bool(self.frozen)
        return (
            *keys("path", "kind", "shape"),
            Column("", "part", "name", lambda row: " = ".join(filter(None, (row.title, row.tied_to)))),
            Column("", "×", "times", "times"),
            Column("each", "one", "count", spare=frozen and not self.explain),
            Column("repeat"),
            Column("total", "total", "count"),
            Column("worked", get=lambda row: row.each.worked(names=self.names)),
            Column("tied_to"),
            Column("trainable", "trainable", "count", shown=frozen),
            Column("", "share", "share", "total", whole=self.total),
        )

    def table(self) -> Table:
        """Parts that come to the same stand in one line, `q head = k head`, if there is room for their names."""
        columns, lines, shown = in_tables(self.columns()), list[Line](), list[tuple[Row, int]]()
        alike = groupby(self._shown(), lambda one: one[0].each.worked() if one[0].kind == "part" else one[0].path)
        for _, group in alike:
            equal = list(group)
            (first, depth), title = equal[0], " = ".join(row.title for row, _ in equal)
            terms = tuple(term for row, _ in equal for term in row.terms)
            fits = len(title) <= LONGEST_TITLE
            shown += [(replace(first, title=title, terms=terms), depth)] if fits else equal
        for row, depth in shown:
            is_worked = self.explain and not row.tied_to
            working = Working(row.each, row.terms, "P", self.names) if is_worked else None
            cells = cells_of(columns, row)
            if row.kind == "part":  # which the tensors of its module hold
                cells = (*cells[:OF_PARTS], *[None] * len(cells[OF_PARTS:]))
            lines.append(Line(cells, depth, working=working))
        return Table(columns, tuple(lines))

    def more(self) -> Sequence[Table]:
        return tables(self.equations) if self.explain else ()

    def _shown(self) -> Iterator[tuple[Row, int]]:
        """Modules down to the chosen depth; parts when the working is shown; tensors in a table deeper than usual, and
        those that the root owns, which have no other row. The inside of a tied module says nothing new."""
        inside = ""  # a module whose inside is not shown
        modules = [row.each if row.kind == "module" else None for row in self.rows]
        for row, depth in outline(self.rows, modules):
            if (inside and row.path.startswith(inside)) or depth >= self.depth:
                continue
            is_module, is_deep = row.kind == "module", self.depth > USUAL_DEPTH
            if is_module and not row.total and not is_deep:
                inside = f"{row.path}."
                tied = (inner.tied_to for inner in self.rows if inner.path.startswith(inside) and inner.tied_to)
                yield replace(row, tied_to=row.tied_to or next(tied, None)), depth
            elif is_module or (self.explain if row.kind == "part" else is_deep or "." not in row.path):
                yield row, depth

    def working(self) -> Working | None:
        asked = self.adapters if self.trained_as else self.total
        return Working(asked, (), "P", self.names) if self.explain and asked else None

    def facts(self) -> dict[str, Any]:
        numbers = {name: int(getattr(self, name)) for name in NUMBERS}
        return {**super().facts(), **numbers, **given(stored_bytes=self.stored, scales=self.scales or None)}

    def record(self) -> dict[str, Any]:
        return {**super().record(), **given(equations=[block.record() for block in self.equations] or None)}


def _all_of(part: LeftOut) -> int:
    return (part.parameters or 0) + (part.copies or 0)


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
        tied_to=module.like.path if module.like else None,
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
