"""How many parameters, layer by layer, and how each number is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby, pairwise
from math import prod
from typing import Any, ClassVar

from archcalc.analyze.equations import Block, blocks, tables
from archcalc.analyze.equations import notes as equation_notes
from archcalc.analyze.params_rows import Row, active_where, count_where, one_copy, rows_of
from archcalc.analyze.trained import AS_SPECIFIED, Trained
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.count import Count
from archcalc.core.ir import Module, ModuleGroup, Param, fold, walk
from archcalc.core.notes import doubts_of, notes_of
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.report.base import Figure, Report
from archcalc.report.table import Column, Line, Table, Working, cells_of, in_tables
from archcalc.spec.scope import WHOLE, Scope
from archcalc.storage.packed_tensors import SCALE

USUAL_DEPTH = 4  # down to the projections of attention and feed-forward layers
FP32 = Assumption(Topic.PRECISION, "fp32 weights: the spec names no precision", "fp32")
LONGEST_TITLE = 30  # of parts in one line, at the usual width of a terminal
NOT_COUNTED = "not counted as parameters"
NUMBERS = (  # of the record
    *("total", "trainable", "frozen", "adapters", "non_embedding", "without_head"),
    *("active", "active_non_embedding", "bytes", "buffers"),
)


@dataclass(frozen=True)
class ParamsReport(Report):
    command: ClassVar[str] = "params"
    chart: ClassVar[str] = "icicle"
    total: Count
    trainable: Count
    non_embedding: Count
    without_head: Count
    active: Count  # all but the experts that a token does not visit
    active_non_embedding: Count
    bytes: Count
    buffers: Count
    groups: dict[str, Count]
    precision: str
    rows: tuple[Row, ...]
    adapters: Count = field(default_factory=lambda: Count(0))  # LoRA's, which are part of the total
    trained_as: str = ""  # where that was asked for: `LoRA r8 on q, v`
    stored: int | None = None  # bytes as a quantised checkpoint keeps them
    scales: Count = field(default_factory=lambda: Count(0))  # with zeros and indices, beside packed weights of a file
    depth: int = USUAL_DEPTH
    equations: tuple[Block, ...] = ()
    explain: bool = False
    names: bool = False

    @property
    def frozen(self) -> int:
        return int(self.total) - int(self.trainable)

    def title(self) -> str:
        return " · ".join(filter(None, (self.model, self.trained_as)))

    def answer(self) -> str:
        """What is trained, where that was asked for."""
        if not self.trained_as:
            return ""
        return f"{self.trainable:,} of {self.total:,} parameters trainable · {100 * self.trainable / self.total:.4f} %"

    def figures(self) -> Sequence[Figure]:
        groups = [(count, Figure(name, count)) for name, count in self.groups.items()]
        is_grouped, has_experts = any(self.groups.values()), self.active != self.total
        own = "it has no weights of its own" if self.without_head == self.total else ""
        listed: list[tuple[object, Figure]] = [
            (True, Figure("parameters", self.total)),
            (has_experts, Figure("active per token", self.active)),
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
            Column("path"),
            Column("kind"),
            Column("shape"),
            Column("", "part", "name", lambda row: f"{row.title} = {row.tied_to}" if row.tied_to else row.title),
            Column("", "×", "times", lambda row: row.times),
            Column("each", "one", "count", spare=frozen and not self.explain),
            Column("repeat"),
            Column("total", "total", "count"),
            Column("worked", get=lambda row: row.each.worked(names=self.names)),
            Column("tied_to"),
            Column("trainable"),
            Column("", "trainable", "count", lambda row: None if row.is_part else row.trainable, shown=frozen),
            Column("", "share", "share", self._share),
        )

    def _share(self, row: Row) -> float | None:
        return None if row.is_part or not self.total else row.total / self.total

    def table(self) -> Table:
        columns = in_tables(self.columns())
        shown = _equal_parts_joined(self._shown())
        lines = [Line(cells_of(columns, row), row.depth, working=self._working(row)) for row in shown]
        return Table(columns, tuple(lines))

    def more(self) -> Sequence[Table]:
        return tables(self.equations) if self.explain else ()

    def _shown(self) -> Iterator[Row]:
        """Modules down to the chosen depth; parts when the working is shown; tensors in a table deeper than usual.

        What says nothing new is left out: the inside of a tied module, and a child that is all there is of its parent,
        whose place is taken by what it holds.
        """
        inside = ""  # a module whose inside is not shown
        left_out: list[str] = []
        for above, below in pairwise(self.rows):
            row = replace(below, raised=sum(below.path.startswith(path) for path in left_out))
            if (inside and row.path.startswith(inside)) or row.depth >= self.depth:
                continue
            if row.kind == "module" and not row.total and self.depth <= USUAL_DEPTH:
                inside = f"{row.path}."
                tied = (inner.tied_to for inner in self.rows if inner.path.startswith(inside) and inner.tied_to)
                yield replace(row, tied_to=next(tied, None))
            elif row.kind == "module" and _is_all_of(row, above):
                left_out.append(f"{row.path}.")
            elif row.kind == "module" or self._is_wanted(row):
                yield row

    def _is_wanted(self, row: Row) -> bool:
        """A tensor owned by the root has no other row."""
        return self.explain if row.is_part else self.depth > USUAL_DEPTH or "." not in row.path

    def _working(self, row: Row) -> Working | None:
        return Working(row.each, row.terms, "P", self.names) if self.explain and not row.tied_to else None

    def working(self) -> Working | None:
        asked = self.adapters if self.trained_as else self.total
        return Working(asked, (), "P", self.names) if self.explain and asked else None

    def facts(self) -> dict[str, Any]:
        numbers = {name: int(getattr(self, name)) for name in NUMBERS}
        stored = {} if self.stored is None else {"stored_bytes": self.stored}
        scales = {"scales": int(self.scales)} if self.scales else {}
        return {**super().facts(), **numbers, **stored, **scales}

    def record(self) -> dict[str, Any]:
        equations = {"equations": [block.record() for block in self.equations]} if self.equations else {}
        return {**super().record(), **equations}


def _is_all_of(row: Row, above: Row) -> bool:
    inner = above.kind == "module" and row.path.startswith(f"{above.path}.")
    return inner and row.times == 1 and row.each == above.each


def _equal_parts_joined(rows: Iterator[Row]) -> Iterator[Row]:
    """`q head = k head = v head`: parts that come to the same stand in one line, if there is room for their names."""
    for _, group in groupby(rows, key=lambda row: row.each.worked() if row.is_part else row.path):
        equal = list(group)
        title = " = ".join(row.title for row in equal)
        terms = tuple(term for row in equal for term in row.terms)
        yield from [replace(equal[0], title=title, terms=terms)] if len(title) <= LONGEST_TITLE else equal


def params(
    root: Module,
    *,
    model: str,
    precision: str | None,
    scope: Scope = WHOLE,
    stored: int | None = None,
    stored_as: str = "",
    trained: Trained = AS_SPECIFIED,
    depth: int = USUAL_DEPTH,
    explain: bool = False,
    names: bool = False,
) -> ParamsReport:
    """`stored` is what a quantised checkpoint takes, `stored_as` the words for it."""
    counted, equations = one_copy(root), blocks(root)
    explained = equation_notes(equations) if explain and equations else ()
    inside, in_file = _inside(root), fold(root, _bytes_in_file)
    exact = doubts_of(root) or (scope.exact("count"),)
    in_words = all_on(Topic.WEIGHTS, filter(None, [stored_as]))
    assumed = () if precision or in_file else (FP32,)
    plain = Count(int(counted) * BYTES[precision or "fp32"])
    mixed = in_file and not (precision and in_file == plain)  # tensors that transformers builds are in no file
    beside = {is_scale: fold(root, partial(_buffers, is_scale)) for is_scale in (True, False)}
    return ParamsReport(
        model=model,
        assumptions=(*exact, *trained.notes, *explained, *notes_of(root), *in_words, *assumed),
        scope=scope,
        total=counted,
        trainable=count_where(root, trained.of),
        non_embedding=count_where(root, inside),
        without_head=count_where(root, lambda param: param.owner.group != ModuleGroup.HEAD),
        active=active_where(root),
        active_non_embedding=active_where(root, inside),
        bytes=in_file or plain,
        buffers=beside[False],
        scales=beside[True],
        groups={label: count_where(root, partial(_is_of, group)) for group, label in GROUPS.items()},
        precision="the file" if mixed else precision or "fp32",
        rows=tuple(rows_of(root, Count(1), trained.of)),
        adapters=trained.adapters,
        trained_as=trained.words,
        stored=stored,
        depth=depth,
        equations=equations,
        explain=explain,
        names=names,
    )


GROUPS = {ModuleGroup.EMBEDDING: "embeddings", ModuleGroup.BLOCKS: "blocks", ModuleGroup.HEAD: "head"}


def _is_of(group: ModuleGroup, param: Param) -> bool:
    return param.owner.group == group


def _bytes_in_file(module: Module) -> int:
    """Of all that a file stores for a module."""
    return sum(one.stored or 0 for one in (*module.params.values(), *module.buffers.values()))


def _buffers(are_scales: bool, module: Module) -> int:
    """Elements beside the parameters: of packed weights their scales and zeros, or all others."""
    return sum(prod(one.shape) for one in module.buffers.values() if (one.role == SCALE) == are_scales)


def _inside(root: Module) -> Callable[[Param], bool]:
    """Whether a parameter is neither in a look-up table nor in an untied output layer: a head's own matrix over the
    vocabulary, and its bias."""
    held = ((module, module.params.values()) for module, _ in walk(root))
    outputs = {module for module, params in held if any(param.weight_role is Role.HEAD for param in params)}
    return lambda param: not (param.weight_role.is_table or param.owner in outputs)
