"""Layer, output shape, parameters and FLOPs side by side, as torchinfo prints a module; equal layers stand once, with
their number.

    summary(model.build(work), work, model="GPT-2 small")

The numbers are those of `params`, `shapes` and `flops --mode forward`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.flops.cost import Work
from archcalc.analyze.flops.cost import work as work_of
from archcalc.analyze.params import one_copy
from archcalc.analyze.shapes import Signal, output_of
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.execution import never
from archcalc.core.ir import Module
from archcalc.core.notes import notes_of
from archcalc.report.base import Figure, Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys
from archcalc.report.tree import outline
from archcalc.spec.scope import WHOLE, Scope
from archcalc.spec.units import flops, rounded
from archcalc.spec.workload import Workload

USUAL_DEPTH = 4
TREE = Assumption(Topic.TABLE, "a layer × n stands for n equal ones: the shape is that of one, the numbers are of all")
PRODUCTS = Assumption(Topic.COST, "FLOPs: matrix products of a forward pass, two for each multiply-add")


@dataclass(frozen=True)
class Row:
    path: str
    title: str
    times: int
    output: Signal | None  # None where what it gives out is not one tensor
    parameters: int  # of all copies
    flops: int

    @property
    def shape(self) -> tuple[int, ...] | None:
        return self.output.shape if self.output else None

    @property
    def dims(self) -> tuple[str, ...] | None:
        return self.output.dims if self.output else None


@dataclass(frozen=True)
class SummaryReport(Report):
    command: ClassVar[str] = "summary"
    batch: int
    lengths: dict[str, int]
    rows: tuple[Row, ...]
    depth: int

    def title(self) -> str:
        sizes = {"batch": self.batch, **self.lengths}
        return " · ".join((self.model, *(f"{name} {size:,}" for name, size in sizes.items())))

    def answer(self) -> str:
        whole = self.rows[0]
        return f"{rounded(whole.parameters)} parameters, {flops(whole.flops)} FLOPs forward"

    def figures(self) -> Sequence[Figure]:
        whole = self.rows[0]
        return (
            Figure("parameters", whole.parameters),
            Figure("FLOPs", whole.flops, "flops"),
            Figure("MACs", whole.flops // 2, "flops"),
        )

    def columns(self) -> Sequence[Column[Row]]:
        whole = self.rows[0]
        return (
            *keys("path"),
            Column("", "layer", "name", "title"),
            Column("", "×", "times", "times"),
            *keys("times", "dims"),
            Column("shape", "output shape", "shape"),
            Column("parameters", "parameters", "count"),
            Column("flops"),
            Column("", "FLOPs", "work", lambda row: row.flops or None),
            Column("", "share", "share", "flops", whole=whole.flops, shown=bool(whole.flops)),
        )

    def table(self) -> Table:
        columns = in_tables(self.columns())
        sizes = [row.parameters + row.flops for row in self.rows]
        lines = (Line(cells_of(columns, row), depth) for row, depth in outline(self.rows, sizes) if depth < self.depth)
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "batch": self.batch, **self.lengths}


def summary(
    root: Module, work: Workload, *, model: str, scope: Scope = WHOLE, depth: int | None = None
) -> SummaryReport:
    return SummaryReport(
        model=model,
        assumptions=(scope.exact("figure"), PRODUCTS, TREE, *notes_of(root), *work.assumptions),
        scope=scope,
        batch=work.batch,
        lengths=work.lengths,
        rows=tuple(_rows(root, 1, work_of(root, trainable=never, elementwise=False))),
        depth=depth or USUAL_DEPTH,
    )


def _rows(module: Module, above: int, done: Work) -> Iterator[Row]:
    """A module before those that it holds."""
    copies, output = above * int(module.repeat), output_of(module)
    parameters, products = copies * int(one_copy(module)), int(done.of(module).forward)
    if output or parameters or products:
        path, title = module.path or "model", module.words.full_name
        yield Row(path, title, int(module.repeat), output, parameters, products)
    for child in module.children:
        if not child.is_section:
            yield from _rows(child, copies, done)
