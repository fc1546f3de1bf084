"""Which node reads what another one makes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile

from archcalc.analyze.diagram import kinds
from archcalc.analyze.diagram.graph import Edge, Form, Graph, Node, PartKind
from archcalc.analyze.diagram.sketch import Sketch
from archcalc.analyze.diagram.tidy import distinct, tidy
from archcalc.core.ir import Module, Op, Param, Tensor

Source = tuple[Node, Tensor, int]  # who made it, what, and by which op


def graph(made: Sketch) -> Graph:
    """Every module opened, without what leads nowhere."""
    flow = _Flow(made)
    edges = [edge for op in made.home for edge in flow.into(op)]
    edges += flow.of_states()
    edges += flow.of_outputs()
    flow.give_parameters()
    found = Graph(made.root, tuple(distinct(edges)))
    return tidy(found)


@dataclass
class _Flow:
    made: Sketch

    def into(self, op: Op) -> list[Edge]:
        node = self.made.home[op]
        found = [self._source(tensor, self.made.module[op]) for tensor in op.inputs]
        return [Edge(source[0], node, *source[1:]) for source in found if source and source[0] is not node]

    def _source(self, tensor: Tensor, module: Module | None) -> Source | None:
        """The node that makes a tensor; through ops that are not drawn, that of what they read."""
        state = self._state(tensor, module)
        if state:
            return state
        place = tensor.within(self.made.made_by)
        op = self.made.made_by.get(place)
        if not op:
            return None
        if op in self.made.home:
            return self.made.home[op], place, self.made.order[op]
        passed = next((each for each in op.inputs if not isinstance(each.storage, Param)), None)
        return self._source(passed, self.made.module.get(op)) if passed else None

    def _state(self, tensor: Tensor, module: Module | None) -> Source | None:
        """What the step before handed on, to ops of that step."""
        around = module.ancestry if module else ()
        for where, into, _, node in self.made.states:
            if where in around and tensor.within({into}) is into:
                return node, into, node.order
        return None

    def of_states(self) -> list[Edge]:
        """The first value of each state, and what the next step takes."""
        edges = []
        for where, into, out, node in self.made.states:
            for tensor, module, feedback in ((into, where.parent, False), (out, where, True)):
                source = self._source(tensor, module)
                if source and source[0] is not node:
                    edges.append(Edge(source[0], node, *source[1:], feedback=feedback))
        return edges

    def of_outputs(self) -> list[Edge]:
        """What losses read, or what comes out last."""
        last = [op for op in self.made.home if self.made.home[op].form != Form.INPUT][-1:]
        tensors = self.made.outputs or [op.output for op in last]
        found = dict.fromkeys(self._source(tensor, None) for tensor in tensors)
        sources = [source for source in found if source and source[0].form != Form.INPUT]
        last_made = max((source[2] for source in sources), default=0)
        return [self._output(source, is_last=source[2] == last_made) for source in sources]

    def _output(self, source: Source, *, is_last: bool) -> Edge:
        """Under the name of its op; one without a name under that of its module, the last as output."""
        op, root = self.made.made_by[source[1]], self.made.root
        title = op.title or op.name.replace("_", " ") or ("output" if is_last else self.made.module[op].words.full_name)
        node = Node(f"#output {len(root.children)}", title, Form.OUTPUT, PartKind.OTHER, 1, len(self.made.order), root)
        root.children.append(node)
        return Edge(source[0], node, *source[1:])

    def give_parameters(self) -> None:
        """Each parameter to the first op of its own module, or inside it, that reads it."""
        given: set[Param] = set()
        for op, node in self.made.home.items():
            around = self.made.module[op].ancestry
            for param in self._parameters(op):
                if param.owner not in around:
                    node.reads_weights_of = param.owner.path
                elif param not in given:
                    given.add(param)
                    self._give(param, node)

    def _give(self, param: Param, node: Node) -> None:
        """To the node, and to those between it and its owner, which counts it already."""
        counted = self.made.nodes[param.owner]
        for each in takewhile(lambda each: each is not counted, node.above):
            each.parameters += int(param.elements) // self.made.stacked.get(param.owner, 1)

    def _parameters(self, op: Op) -> Iterator[Param]:
        """Those that it reads, itself or through ops that are not drawn."""
        yield from kinds.weights(op)
        for tensor in op.inputs:
            before = self.made.made_by.get(tensor.within(self.made.made_by))
            if before and before not in self.made.home:
                yield from self._parameters(before)
