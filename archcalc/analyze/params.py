"""How many parameters, layer by layer, and how each number is worked out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any, ClassVar

from archcalc.analyze.equations import Block, blocks, tables
from archcalc.analyze.equations import notes as equation_notes
from archcalc.analyze.params_rows import Row, count_where, one_copy, rows_of
from archcalc.analyze.trained import AS_SPECIFIED, Trained
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.count import Count
from archcalc.core.ir import Module, ModuleGroup, Param, Tensor, fold, walk
from archcalc.core.notes import doubts_of, notes_of
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.report.base import SCHEMA_VERSION, Column, Figure, Line, Report, Table, Working
from archcalc.spec.scope import WHOLE, Scope
from archcalc.storage.packed_tensors import SCALE

USUAL_DEPTH = 4  # down to the projections of attention and feed-forward layers
FP32 = Assumption(Topic.PRECISION, "fp32 weights: the spec names no precision", "fp32")
LONGEST_TITLE = 30  # of parts in one line, at the usual width of a terminal


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
        own = "it has no weights of its own" if self.without_head == self.total else ""
        headless = Figure("without output layer", self.without_head, note=own)
        groups = [Figure(name, count) for name, count in self.groups.items() if count]
        active = [Figure("active per token", self.active)] if self.active != self.total else []
        active_non_embedding = [Figure("non-embedding, active", self.active_non_embedding)] if active else []
        beside = {"scales and zeros": self.scales, "buffers": self.buffers}
        others = [Figure(name, count, note="not counted as parameters") for name, count in beside.items() if count]
        stored = [Figure("bytes as stored", self.stored, "bytes")] if self.stored is not None else []
        return (
            Figure("parameters", self.total),
            *active,
            *groups,
            *self._trained(),
            *((headless, Figure("non-embedding", self.non_embedding)) if groups else ()),
            *active_non_embedding,
            Figure(f"bytes in {self.precision}", self.bytes, "bytes"),
            *stored,
            *others,
        )

    def _trained(self) -> list[Figure]:
        adapters = [Figure("LoRA adapters", self.adapters)] if self.adapters else []
        apart = [Figure("trainable", self.trainable), Figure("frozen", self.frozen)] if self.frozen else []
        return [*adapters, *apart]

    def table(self) -> Table:
        one = Column("one", "count", spare=bool(self.frozen) and not self.explain)
        columns = [Column("part", "name"), Column("×", "times"), one, Column("total", "count")]
        lines = [self._line(row) for row in _equal_parts_joined(self._shown())]
        trainable = [Column("trainable", "count")] if self.frozen else []
        return Table((*columns, *trainable, Column("share", "share")), tuple(lines))

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
        if row.kind == "part":
            return self.explain
        return self.depth > USUAL_DEPTH or "." not in row.path

    def _line(self, row: Row) -> Line:
        share = row.total / self.total if row.kind != "part" and self.total else None
        title = f"{row.title} = {row.tied_to}" if row.tied_to else row.title
        working = None if row.tied_to else self._working(row.each, row.terms)
        trained = row.trainable if row.kind != "part" else None
        trainable = [trained] if self.frozen else []
        return Line((title, row.times, row.each, row.total, *trainable, share), row.depth, working=working)

    def _working(self, count: Count, terms: tuple[str, ...]) -> Working | None:
        return Working(count, terms, "P", self.names) if self.explain else None

    def working(self) -> Working | None:
        asked = self.adapters if self.trained_as else self.total
        return self._working(asked, ()) if asked else None

    def record(self) -> dict[str, Any]:
        figures = ["total", "trainable", "frozen", "adapters", "non_embedding", "without_head"]
        figures += ["active", "active_non_embedding", "bytes", "buffers"]
        stored = {"stored_bytes": self.stored} if self.stored is not None else {}
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            **self.scope.record(),
            **{name: int(getattr(self, name)) for name in figures},
            **stored,
            **({"scales": int(self.scales)} if self.scales else {}),
            "assumptions": self.assumed(),
            "rows": [self._row_record(row) for row in self.rows],
            **self._equations_record(),
        }

    def _equations_record(self) -> dict[str, Any]:
        return {"equations": [block.record() for block in self.equations]} if self.equations else {}

    def _row_record(self, row: Row) -> dict[str, Any]:
        keys = ("path", "kind", "shape", "each", "repeat", "total")
        worked = row.each.worked(names=self.names)
        return {
            **{key: getattr(row, key) for key in keys},
            "worked": worked,
            "tied_to": row.tied_to,
            "trainable": row.trainable,
        }


def _is_all_of(row: Row, above: Row) -> bool:
    inner = above.kind == "module" and row.path.startswith(f"{above.path}.")
    return inner and row.times == 1 and row.each == above.each


def _equal_parts_joined(rows: Iterator[Row]) -> Iterator[Row]:
    """`q head = k head = v head`: parts that come to the same stand in one line, if there is room for their names."""
    for _, group in groupby(rows, key=lambda row: row.each.worked() if row.kind == "part" else row.path):
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
    inside, in_file = _inside(root), fold(root, lambda module: sum(one.stored or 0 for one in _held(module)))
    exact = doubts_of(root) or (scope.exact("count"),)
    in_words = all_on(Topic.WEIGHTS, filter(None, [stored_as]))
    assumed = () if precision or in_file else (FP32,)
    plain = Count(int(counted) * BYTES[precision or "fp32"])
    mixed = in_file and not (precision and in_file == plain)  # tensors that transformers builds are in no file
    return ParamsReport(
        model=model,
        assumptions=(*exact, *trained.notes, *explained, *notes_of(root), *in_words, *assumed),
        scope=scope,
        total=counted,
        trainable=count_where(root, trained.of),
        non_embedding=count_where(root, inside),
        without_head=count_where(root, lambda param: param.owner.group != ModuleGroup.HEAD),
        active=_active(root),
        active_non_embedding=_active(root, inside),
        bytes=in_file or plain,
        buffers=_beside(root, lambda tensor: tensor.role != SCALE),
        scales=_beside(root, lambda tensor: tensor.role == SCALE),
        groups={label: count_where(root, _of_group(group)) for group, label in _GROUPS},
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


def _held(module: Module) -> tuple[Tensor, ...]:
    """All that a file stores for a module."""
    return (*module.params.values(), *module.buffers.values())


def _beside(root: Module, wanted: Callable[[Tensor], bool]) -> Count:
    """Further figures shown with the parameter count."""
    return fold(root, lambda module: sum(_elements(one.shape) for one in module.buffers.values() if wanted(one)))


_GROUPS = (("embedding", "embeddings"), ("blocks", "blocks"), ("head", "head"))


def _of_group(group: str) -> Callable[[Param], bool]:
    return lambda param: param.owner.group == group


def _active(root: Module, wanted: Callable[[Param], bool] = lambda param: True) -> Count:
    """Active parameters per token: selected experts and everything else; embedding tables count in full, as usual."""
    return fold(root, lambda module: sum(int(_met(param)) for param in module.params.values() if wanted(param)))


def _met(param: Param) -> Count:
    return param.elements if param.active is None else param.active


def _inside(root: Module) -> Callable[[Param], bool]:
    """Whether a parameter is neither in a look-up table nor in an untied output layer: a head's own matrix over the
    vocabulary, and its bias."""
    held = ((module, module.params.values()) for module, _ in walk(root))
    outputs = {module for module, params in held if any(param.weight_role is Role.HEAD for param in params)}
    return lambda param: not (param.weight_role.is_table or param.owner in outputs)


def _elements(shape: tuple[int, ...]) -> int:
    number = 1
    for size in shape:
        number *= size
    return number
