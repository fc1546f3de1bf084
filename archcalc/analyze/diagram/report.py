"""The diagram of a model as a report: nodes and edges, with their names, shapes and counts."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.diagram.flow import graph
from archcalc.analyze.diagram.graph import Edge, Graph, Node
from archcalc.analyze.diagram.sketch import sketch
from archcalc.analyze.diagram.tidy import closed
from archcalc.core.ir import Module, Tensor
from archcalc.core.notes import notes_of
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys, records_of
from archcalc.spec.scope import WHOLE, Scope
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class DiagramReport(Report):
    command: ClassVar[str] = "diagram"
    graph: Graph
    batch: int
    lengths: dict[str, int]
    symbolic: bool = False

    @property
    def parameters(self) -> int:
        return self.graph.root.parameters

    def answer(self) -> str:
        sizes = {"batch": self.batch, **self.lengths}
        told = (f"{name.replace('_', ' ')} {number:,}" for name, number in sizes.items())
        part = [f"only the {self.scope.name}"] if self.scope.left_out else []
        return " · ".join([f"{self.parameters:,} parameters", *part, *told])

    def __eq__(self, other: object) -> bool:
        """By what is shown: nodes themselves are told apart by identity."""
        return isinstance(other, DiagramReport) and (self.symbolic, self.record()) == (other.symbolic, other.record())

    def described(self) -> str:
        """In words, for readers who do not see the picture."""
        nodes = sorted(self.graph.root.children, key=lambda node: node.order)
        parts = [f"{node.title}{f' × {node.repeat}' if node.repeat > 1 else ''}" for node in nodes]
        return f"{self.parameters:,} parameters. From input to output: {', '.join(parts)}."

    def label(self, wire: tuple[Node, Tensor]) -> str:
        """The shape of a tensor: sizes, or names of dims."""
        tensor = wire[1]
        if self.symbolic:
            return " × ".join("·".join(dim.name for dim in axis) for axis in tensor.axes)
        return " × ".join(f"{each:,}" for each in tensor.shape)

    def _repr_html_(self) -> str:
        """The picture, for notebooks."""
        return str(importlib.import_module("archcalc.render.diagram.svg").render(self))  # which stands above reports

    @property
    def nodes(self) -> list[Node]:
        return [node for node in self.graph.root.walk() if node.parent]

    def columns(self) -> tuple[Column[Node], ...]:
        return NODES

    def table(self) -> Table:
        """The nodes, as an outline."""
        columns = in_tables(NODES)
        lines = (Line(cells_of(columns, node), len(list(node.above)) - 2) for node in self.nodes)
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "batch": self.batch, **self.lengths, "parameters": self.parameters}

    def records(self) -> list[dict[str, Any]]:
        return records_of(NODES, self.nodes)

    def record(self) -> dict[str, Any]:
        """Its rows are the nodes, and go by that name."""
        found = super().record()
        nodes = found.pop("rows")
        return {**found, "nodes": nodes, "edges": records_of(EDGES, self.graph.edges)}


NODES: tuple[Column[Node], ...] = (
    Column("id", get="key"),
    Column("inside", get=lambda node: (node.parent and node.parent.key) or None),
    Column("title", "part", "name"),
    Column("", "×", "times", "copies"),
    Column("form", get=lambda node: str(node.form)),
    Column("", "one", "count", "parameters"),
    Column("kind", "kind", "text", lambda node: str(node.kind)),
    *keys("detail", "parameters", "repeat"),
    Column("runs", get="calls"),
    Column("keeps", get=lambda node: list(node.keeps)),
)
EDGES: tuple[Column[Edge], ...] = (
    Column("from", get="source.key"),
    Column("to", get="target.key"),
    Column("shape", get=lambda edge: list(edge.tensor.shape)),
    Column("dims", get=lambda edge: ["·".join(dim.name for dim in axis) for axis in edge.tensor.axes]),
    Column("feedback"),
)


def diagram(
    root: Module,
    work: Workload,
    *,
    model: str,
    scope: Scope = WHOLE,
    depth: int | None = None,
    symbolic: bool = False,
) -> DiagramReport:
    return DiagramReport(
        model=model,
        assumptions=(*notes_of(root), *work.assumptions),
        scope=scope,
        graph=closed(graph(sketch(root)), depth),
        batch=work.batch,
        lengths=work.lengths,
        symbolic=symbolic,
    )
