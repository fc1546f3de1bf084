"""Close the nodes below some level: each then stands for all that is in it."""

from __future__ import annotations

from archcalc.analyze.diagram.graph import Form, Graph, Node, PartKind
from archcalc.analyze.diagram.sketch import BEFORE
from archcalc.analyze.diagram.tidy import OPS, standing_for

USUAL_DEPTH = 3  # the layers of a block
_BEHIND = (PartKind.NORM, PartKind.ACTIVATION)  # what stands behind a layer


def closed(found: Graph, depth: int | None) -> Graph:
    """The graph with so many levels; without a depth the usual ones."""
    inside: dict[Node, Node] = {}
    for node in list(found.root.walk()):
        # Usually single layers are closed wherever they stand, and mixtures of experts are opened one level further.
        usual = node.level >= USUAL_DEPTH + (node.kind == PartKind.EXPERTS) or _is_single_layer(node)
        if node.children and (usual if depth is None else node.level >= depth):
            inside.update({below: node for child in node.children for below in child.walk()})
            node.children, node.form = [], Form.BOX
    return _with_own_states(standing_for(found, inside))


def _is_single_layer(node: Node) -> bool:
    """Ops with one matrix among them, and at most norms and activations with weights besides: a convolution, a head."""
    own = [child for child in node.children if child.kind not in _BEHIND]
    weighing = [child for child in own if child.parameters or child.reads_weights_of]
    return bool(node.parent) and all(child.form in OPS for child in own) and len(weighing) <= 1


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
