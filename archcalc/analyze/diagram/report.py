"""The diagram of a model as a report: nodes and edges, with their names, shapes and counts."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.diagram.closing import closed
from archcalc.analyze.diagram.flow import graph
from archcalc.analyze.diagram.graph import Edge, Graph, Node
from archcalc.analyze.diagram.sketch import sketch
from archcalc.core.ir import Module, Tensor
from archcalc.core.notes import notes_of
from archcalc.report.base import SCHEMA_VERSION, Column, Line, Report, Table
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

    def subtitle(self) -> str:
        sizes = {"batch": self.batch, **self.lengths}
        told = (f"{name.replace('_', ' ')} {number:,}" for name, number in sizes.items())
        part = [f"only the {self.scope.name}"] if self.scope.is_partial else []
        return " · ".join([f"{self.parameters:,} parameters", *part, *told])

    def __eq__(self, other: object) -> bool:
        """By what is shown: nodes themselves are told apart by identity."""
        return isinstance(other, DiagramReport) and (self.symbolic, self.record()) == (other.symbolic, other.record())

    def answer(self) -> str:
        return self.subtitle()

    def described(self) -> str:
        """In words, for readers who do not see the picture."""
        parts = [f"{node.title}{f' × {node.repeat}' if node.repeat > 1 else ''}" for node in self._parts()]
        return f"{self.parameters:,} parameters. From input to output: {', '.join(parts)}."

    def _parts(self) -> Iterator[Node]:
        return iter(sorted(self.graph.root.children, key=lambda node: node.order))

    def label(self, wire: tuple[Node, Tensor]) -> str:
        """The shape of a tensor: sizes, or names of dims."""
        tensor = wire[1]
        if self.symbolic:
            return " × ".join("·".join(dim.name for dim in axis) for axis in tensor.axes)
        return " × ".join(f"{each:,}" for each in tensor.shape)

    def _repr_html_(self) -> str:
        """The picture, for notebooks."""
        return str(importlib.import_module("archcalc.render.diagram.svg").render(self))  # which stands above reports

    def table(self) -> Table:
        """The nodes, as an outline."""
        nodes = [(node, len(list(node.above)) - 2) for node in self.graph.root.walk() if node.parent]
        lines = [Line((node.title, node.copies, node.parameters, str(node.kind)), depth) for node, depth in nodes]
        columns = (Column("part", "name"), Column("×", "times"), Column("one", "count"), Column("kind", "text"))
        return Table(columns, tuple(lines))

    def record(self) -> dict[str, Any]:
        nodes = [node for node in self.graph.root.walk() if node.parent]
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            **self.scope.record(),
            "batch": self.batch,
            **self.lengths,
            "parameters": self.parameters,
            "assumptions": self.assumed(),
            "nodes": [_node_record(node) for node in nodes],
            "edges": [_edge_record(edge) for edge in self.graph.edges],
        }


def _node_record(node: Node) -> dict[str, Any]:
    assert node.parent
    return {
        "id": node.key,
        "inside": node.parent.key or None,
        "title": node.title,
        "form": str(node.form),
        "kind": str(node.kind),
        "detail": node.detail,
        "parameters": node.parameters,
        "repeat": node.repeat,
        "runs": node.calls,
        "keeps": list(node.keeps),
    }


def _edge_record(edge: Edge) -> dict[str, Any]:
    return {
        "from": edge.source.key,
        "to": edge.target.key,
        "shape": list(edge.tensor.shape),
        "dims": ["·".join(dim.name for dim in axis) for axis in edge.tensor.axes],
        "feedback": edge.feedback,
    }


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
