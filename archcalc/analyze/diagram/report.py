"""The diagram of a model as a report: nodes and edges, with their names, shapes and counts."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.analyze.diagram import kinds
from archcalc.analyze.diagram.fold import folded
from archcalc.analyze.diagram.graph import Edge, Form, Graph, Node, PartKind
from archcalc.analyze.diagram.inset import insets
from archcalc.analyze.diagram.sketch import Sketch, sketch
from archcalc.analyze.diagram.tidy import closed, distinct, tidy
from archcalc.core.ir import Module, Op, Param, Tensor
from archcalc.core.notes import notes_of
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, in_tables, keys, records_of
from archcalc.spec.scope import WHOLE, Scope
from archcalc.spec.workload import Workload

Source = tuple[Node, Tensor, int]  # who made it, what, and by which op


@dataclass(frozen=True)
class DiagramReport(Report):
    command: ClassVar[str] = "diagram"
    graph: Graph
    batch: int
    lengths: dict[str, int]
    symbolic: bool = False
    landscape: bool = False  # as wide as a slide
    insets: tuple[Graph, ...] = ()  # the inside of parts that are boxes in the picture

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
        parts = [f"{node.name} × {node.repeat}" if node.repeat > 1 else node.name for node in nodes]
        return f"{self.parameters:,} parameters. From input to output: {', '.join(parts)}."

    def label(self, wire: tuple[Node, Tensor]) -> str:
        """The shape of a tensor: sizes, or names of dims."""
        node, tensor = wire
        last = self.graph.lasts.get(tensor, tensor)
        if self.symbolic:
            return " × ".join("·".join(dim.name for dim in axis) for axis in tensor.axes)
        sizes = [list(dict.fromkeys(pair)) for pair in zip(tensor.shape, last.shape, strict=True)]
        shape = " × ".join("…".join(f"{size:,}" for size in pair) for pair in sizes)
        return f"{node.repeat} of {shape}" if node.is_side_by_side else shape

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
    Column("title", "part", "name", "name"),
    Column("", "×", "times", "copies"),
    Column("form", get=lambda node: str(node.form)),
    Column("", "one", "count", "parameters"),
    Column("kind", "kind", "text", lambda node: str(node.kind)),
    *keys("detail", "parameters", "repeat"),
    Column("runs", get="calls"),
    Column("keeps", get=lambda node: list(node.keeps)),
    Column("times", get=lambda node: list(node.times or (node.repeat,))),
    Column("others", get=lambda node: [_of(other) for other in node.others]),
)


def _of(node: Node) -> dict[str, Any]:
    """One of those that a folded node stands for."""
    return {"id": node.key, "title": node.title, "detail": node.detail, "parameters": node.parameters}


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
    fold: bool = True,
    landscape: bool = False,
) -> DiagramReport:
    """`fold`: draw what repeats with other sizes once, in a picture of many boxes."""
    opened = closed(graph(sketch(root)), depth)
    inside = insets(graph(sketch(root)), opened) if depth is None else ()
    return DiagramReport(
        model=model,
        assumptions=(*notes_of(root), *work.assumptions),
        scope=scope,
        graph=folded(opened) if fold else opened,
        batch=work.batch,
        lengths=work.lengths,
        symbolic=symbolic,
        landscape=landscape,
        insets=tuple(inside),
    )


def graph(made: Sketch) -> Graph:
    """Every module opened, without what leads nowhere."""
    edges = []
    for op, node in made.home.items():
        found = [_source(made, tensor, made.module[op]) for tensor in op.inputs]
        edges += [Edge(source[0], node, *source[1:]) for source in found if source and source[0] is not node]
    for where, into, out, node in made.states:
        # The first value of each state, and what the next step takes.
        for tensor, module, feedback in ((into, where.parent, False), (out, where, True)):
            source = _source(made, tensor, module)
            if source and source[0] is not node:
                edges.append(Edge(source[0], node, *source[1:], feedback=feedback))
    edges += _of_outputs(made)
    _give_parameters(made)
    return tidy(Graph(made.root, distinct(edges)))


def _source(made: Sketch, tensor: Tensor, module: Module | None) -> Source | None:
    """The node that makes a tensor; through ops that are not drawn, that of what they read."""
    around = module.ancestry if module else ()
    for where, into, _, node in made.states:  # what the step before handed on, to ops of that step
        if where in around and tensor.within({into}) is into:
            return node, into, node.order
    place = tensor.within(made.made_by)
    op = made.made_by.get(place)
    if not op:
        return None
    if op in made.home:
        return made.home[op], place, made.order[op]
    passed = next((each for each in op.inputs if not isinstance(each.storage, Param)), None)
    return _source(made, passed, made.module.get(op)) if passed else None


def _of_outputs(made: Sketch) -> list[Edge]:
    """What losses read, or what comes out last: under the name of its op; one without a name under that of its
    module, the last as output."""
    last = [op for op in made.home if made.home[op].form != Form.INPUT][-1:]
    tensors = made.outputs or [op.output for op in last]
    found = dict.fromkeys(_source(made, tensor, None) for tensor in tensors)
    sources = [source for source in found if source and source[0].form != Form.INPUT]
    last_made = max((source[2] for source in sources), default=0)
    edges, root, order = list[Edge](), made.root, len(made.order)
    for source in sources:
        op = made.made_by[source[1]]
        unnamed = "output" if source[2] == last_made else made.module[op].words.full_name
        title = op.title or op.name.replace("_", " ") or unnamed
        node = Node(f"#output {len(root.children)}", title, Form.OUTPUT, PartKind.OTHER, 1, order, root)
        root.children.append(node)
        edges.append(Edge(source[0], node, *source[1:]))
    return edges


def _give_parameters(made: Sketch) -> None:
    """Each parameter to the first op of its own module, or inside it, that reads it, and to the nodes between that
    and its owner, which counts it already."""
    given: set[Param] = set()
    for op, node in made.home.items():
        around = made.module[op].ancestry
        for param in _parameters(made, op):
            if param.owner not in around:
                node.reads_weights_of = param.owner.path
            elif param not in given:
                given.add(param)
                counted, copies = made.nodes[param.owner], made.stacked.get(param.owner, 1)
                for each in node.above:
                    if each is counted:
                        break
                    each.parameters += int(param.elements) // copies


def _parameters(made: Sketch, op: Op) -> Iterator[Param]:
    """Those that it reads, itself or through ops that are not drawn."""
    yield from kinds.weights(op)
    for tensor in op.inputs:
        before = made.made_by.get(tensor.within(made.made_by))
        if before and before not in made.home:
            yield from _parameters(made, before)
