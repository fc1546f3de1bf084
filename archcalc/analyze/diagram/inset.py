"""The inside of one part, drawn beside a picture that shows it as a box: attention, the cell of a recurrent layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from archcalc.analyze.diagram.graph import Edge, Form, Graph, Node, PartKind
from archcalc.analyze.diagram.tidy import distinct

SHOWN = (PartKind.ATTENTION, PartKind.RECURRENT, PartKind.STATE_SPACE)
MOST = 30  # boxes of an inset


def insets(whole: Graph, overview: Graph) -> Iterator[Graph]:
    """Of each kind the first that is closed in the overview; `whole` has it opened."""
    opened = {node.key: node for node in whole.root.walk() if node.children}
    closed = [node for node in overview.root.leaves() if node.form == Form.BOX and node.key in opened]
    for kind in SHOWN:
        part = next((opened[node.key] for node in closed if node.kind == kind), None)
        if part and sum(1 for _ in part.leaves()) <= MOST:
            yield _inset(part, whole.edges)


def _inset(part: Node, edges: Iterable[Edge]) -> Graph:
    """The part in a frame of its own, with what it reads and what it makes."""
    root = Node("", part.title, Form.FRAME, part.kind, 0, 0)
    frame = Node(
        part.key,
        f"inside {part.step or part.title}",
        Form.FRAME,
        part.kind,
        1,
        part.order,
        root,
        children=part.children,
    )
    frame.parameters, root.children = part.parameters, [frame]
    inside = set(part.leaves())
    ends: dict[object, Node] = {}
    kept = []
    for edge in edges:
        if edge.target in inside and edge.source not in inside:
            source = ends.setdefault((edge.source, edge.tensor), _end(frame, edge.source, Form.INPUT))
            edge = replace(edge, source=source)
        elif edge.source in inside and edge.target not in inside:
            edge = replace(edge, target=ends.setdefault(Form.OUTPUT, _end(frame, edge.target, Form.OUTPUT)))
        if {edge.source, edge.target} <= inside | set(ends.values()):
            kept.append(edge)
    for child in part.children:
        child.parent = frame
    frame.children = [*part.children, *ends.values()]
    return Graph(root, distinct(kept))


def _end(frame: Node, other: Node, form: Form) -> Node:
    """What stands for a node outside, by its name."""
    signs = {Form.SIGN: "sum"}
    title = "output" if form == Form.OUTPUT else signs.get(other.form, other.title)
    order = other.order
    return Node(f"#{form} {other.key}", title, form, PartKind.OTHER, 2, order, frame)
