"""What of a graph is worth drawing: no dead ends, no constants, no boxes around a single box, no level too deep."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from archcalc.analyze.diagram.graph import Edge, Form, Graph, Node, PartKind
from archcalc.analyze.diagram.sketch import BEFORE

OPS = (Form.STEP, Form.SIGN)
USUAL_DEPTH = 3  # the layers of a block
_BEHIND = (PartKind.NORM, PartKind.ACTIVATION)  # what stands behind a layer


def tidy(found: Graph) -> Graph:
    """The same computation in fewer nodes."""
    for step in (_without_idle, _without_lookups, _merged, _with_norms_of_sums):
        found = step(found)
    return found


def distinct(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    """One edge for each tensor that a node reads of another, however often."""
    between = (edge for edge in edges if edge.source is not edge.target)
    return tuple({(edge.source, edge.target, edge.tensor, edge.feedback): edge for edge in between}.values())


def standing_for(found: Graph, others: dict[Node, Node]) -> Graph:
    """The edges of nodes that are drawn no more, at the nodes that stand for them."""
    moved = []
    for edge in found.edges:
        source, target = edge.source, edge.target
        while source in others:
            source = others[source]
        while target in others:
            target = others[target]
        moved.append(replace(edge, source=source, target=target))
    return Graph(found.root, distinct(moved))


def _without_idle(found: Graph) -> Graph:
    """No nodes without parameters whose output nobody reads, or that read nothing that the model is given."""
    while True:  # since what feeds a dead end becomes one
        read = {edge.source for edge in found.edges}
        fed = {edge.target for edge in found.edges if not edge.feedback}
        ends = {Form.INPUT: read, Form.OUTPUT: fed, Form.STATE: read}
        leaves = (node for node in found.root.leaves() if node is not found.root)
        gone = {node for node in leaves if not node.parameters and node not in ends.get(node.form, read & fed)}
        if not gone:
            return found
        for node in gone:
            _remove(node)
        found = Graph(found.root, tuple(edge for edge in found.edges if not {edge.source, edge.target} & gone))


def _remove(node: Node) -> None:
    assert node.parent
    node.parent.children.remove(node)


def _without_lookups(found: Graph) -> Graph:
    """What an op makes of parameters alone belongs to the op beside it that reads it: the rows of a position table."""
    others: dict[Node, Node] = {}
    fed = {edge.target for edge in found.edges}
    for node in list(found.root.leaves()):
        readers = [edge.target for edge in found.edges if edge.source is node]
        if node.form in OPS and node not in fed and readers and all(one.parent is node.parent for one in readers):
            others[node] = readers[0]
            readers[0].parameters += node.parameters
            _remove(node)
    return standing_for(found, others)


def _merged(found: Graph) -> Graph:
    """A frame around a single node becomes one with it, where one node can say all: no two numbers of copies or of
    runs, no weights of the outer one's own."""
    others: dict[Node, Node] = {}
    for frame in reversed(list(found.root.walk())):
        only = frame.children[0] if len(frame.children) == 1 and frame.parent else None
        if only and not only.is_side_by_side:
            counted_once = only.repeat == 1 or (frame.repeat == 1 and frame.parameters == only.parameters * only.repeat)
            if counted_once and (frame.calls == 1 or only.calls == 1):
                _absorb(frame, only)
                others[only] = frame
        elif not frame.children and frame.form == Form.FRAME:
            frame.form = Form.BOX
    return standing_for(found, others)


def _absorb(frame: Node, only: Node) -> None:
    """The outer name, the inner contents."""
    frame.repeat *= only.repeat
    frame.calls *= only.calls
    if only.is_step:
        frame.is_step, frame.step, frame.detail = True, only.title, f"{only.title}: {only.detail}"
    frame.parameters //= only.repeat
    frame.children, frame.level = only.children, only.level
    frame.detail = frame.detail or only.detail
    frame.reads_weights_of = frame.reads_weights_of or only.reads_weights_of
    if not only.children:
        frame.form = Form.BOX
    for child in frame.children:
        child.parent = frame


def _with_norms_of_sums(found: Graph) -> Graph:
    """A sum that only a normalisation beside it reads is one box with it, as in figures of post-norm blocks."""
    others: dict[Node, Node] = {}
    for node in [node for node in found.root.leaves() if node.form == Form.SIGN]:
        readers = [edge.target for edge in found.edges if edge.source is node]
        if len(readers) == 1 and readers[0].kind == PartKind.NORM and readers[0].parent is node.parent:
            others[node] = readers[0]
            readers[0].detail = f"{readers[0].detail} of the sum".strip()
            _remove(node)
    return standing_for(found, others)


def closed(found: Graph, depth: int | None) -> Graph:
    """The graph with so many levels; without a depth the usual ones."""
    inside: dict[Node, Node] = {}
    for node in list(found.root.walk()):
        # Usually single layers are closed wherever they stand, and mixtures of experts are opened one level further.
        # A layer has ops with one matrix among them, and at most norms and activations with weights besides.
        own = [child for child in node.children if child.kind not in _BEHIND]
        weighing = [child for child in own if child.parameters or child.reads_weights_of]
        is_layer = bool(node.parent) and all(child.form in OPS for child in own) and len(weighing) <= 1
        usual = node.level >= USUAL_DEPTH + (node.kind == PartKind.EXPERTS) or is_layer
        if node.children and (usual if depth is None else node.level >= depth):
            inside.update({below: node for child in node.children for below in child.walk()})
            node.children, node.form = [], Form.BOX
    return _with_own_states(standing_for(found, inside))


def _with_own_states(found: Graph) -> Graph:
    """A state that one node alone reads and hands on is told in that node."""
    keeping: dict[Node, Node] = {}
    for state in [node for node in found.root.leaves() if node.form == Form.STATE]:
        readers = {edge.target for edge in found.edges if edge.source is state}
        makers = {edge.source for edge in found.edges if edge.target is state and edge.feedback}
        if len(readers) == 1 and readers == makers and state.parent:
            keeping[state] = readers.pop()
            keeping[state].keeps += (state.title.removesuffix(BEFORE),)
            state.parent.children.remove(state)
    return standing_for(found, keeping)
