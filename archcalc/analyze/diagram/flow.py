"""Which node reads what another one makes."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.analyze.diagram import kinds
from archcalc.analyze.diagram.graph import Edge, Form, Graph, Node, PartKind
from archcalc.analyze.diagram.sketch import Sketch
from archcalc.analyze.diagram.tidy import distinct, tidy
from archcalc.core.ir import Module, Op, Param, Tensor

Source = tuple[Node, Tensor, int]  # who made it, what, and by which op


def graph(made: Sketch) -> Graph:
    """Every module opened, without what leads nowhere."""
    edges = []
    for op, node in made.home.items():
        found = [_source(made, tensor, made.module[op]) for tensor in op.inputs]
        edges += [Edge(source[0], node, *source[1:]) for source in found if source and source[0] is not node]
    edges += _of_states(made)
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


def _of_states(made: Sketch) -> list[Edge]:
    """The first value of each state, and what the next step takes."""
    edges = []
    for where, into, out, node in made.states:
        for tensor, module, feedback in ((into, where.parent, False), (out, where, True)):
            source = _source(made, tensor, module)
            if source and source[0] is not node:
                edges.append(Edge(source[0], node, *source[1:], feedback=feedback))
    return edges


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
