"""What repeats with other sizes, drawn once: the layers of a DenseNet, the stages of a ResNet.

Siblings are folded where they follow one another, each reading the one before it, with one structure: the same tree of
parts, made of the same kinds of op, and the same edges between them. Whatever saves most boxes is folded first, until
the picture is read at a glance.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from archcalc.analyze.diagram.graph import Edge, Form, Graph, Node, PartKind
from archcalc.core.ir import Tensor

GLANCE = 30  # boxes of a picture that needs no folds
LEAST = 3  # boxes that a fold saves
LONGEST = 8  # siblings that repeat together
_CLOSED = (Form.INPUT, Form.OUTPUT, Form.STATE)


class Run(NamedTuple):
    """Siblings in a row: units of so many each."""

    units: tuple[tuple[Node, ...], ...]

    @property
    def saves(self) -> int:
        return (len(self.units) - 1) * sum(1 for node in self.units[0] for _ in node.leaves())


def folded(found: Graph) -> Graph:
    """The same in fewer boxes, each of which says what it stands for."""
    while sum(1 for _ in found.root.leaves()) > GLANCE:
        structures: dict[Node, Hashable] = {}
        runs = [run for node in found.root.walk() for run in _runs(node, structures)]
        runs.sort(key=lambda run: -run.saves)
        run = next((run for run in runs if run.saves >= LEAST and _is_chain(run, found.edges)), None)
        if run is None:
            return found
        found = _with_fold(found, run)
    return found


def _runs(around: Node, structures: dict[Node, Hashable]) -> Iterator[Run]:
    """The longest for each length of a unit, from each place."""
    children = sorted(around.children, key=lambda node: node.order)
    kinds = [_structure(node, structures) for node in children]
    for length in range(1, min(LONGEST, len(children) // 2) + 1):
        start = 0
        while start + 2 * length <= len(children):
            end = start
            while end + length < len(children) and kinds[end] == kinds[end + length]:
                end += 1
            number = (end - start) // length + 1
            if number > 1:
                bounds = range(start, start + number * length, length)
                yield Run(tuple(tuple(children[place : place + length]) for place in bounds))
            start = max(end, start) + 1 if number == 1 else start + (number - 1) * length + 1


def _structure(node: Node, known: dict[Node, Hashable]) -> Hashable:
    """What has the same is drawn alike but for numbers; inputs and outputs are like nothing else."""
    if node not in known:
        inside = tuple(_structure(child, known) for child in node.children)
        one_of_many = node.repeat > 1 or bool(node.times)
        own = (node.form, node.kind, node.makes, one_of_many, node.calls, node.keeps, bool(node.reads_weights_of))
        known[node] = (*own, inside, node.key if node.form in _CLOSED else "")
    return known[node]


def _is_chain(run: Run, edges: Sequence[Edge]) -> bool:
    """Whether each unit reads the one before it in the same places, and the same of what is outside of all."""
    place = {leaf: (unit, at) for unit, nodes in enumerate(run.units) for at, leaf in enumerate(_leaves(nodes))}
    around = (-1, 0)
    within = [set[tuple[int, int, bool]]() for _ in run.units]
    before = [set[tuple[int, int]]() for _ in run.units]
    outside = [set[tuple[Node, Tensor, int]]() for _ in run.units]
    for edge in edges:
        (source, start), (target, end) = place.get(edge.source, around), place.get(edge.target, around)
        if source == target >= 0:
            within[source].add((start, end, edge.feedback))
        elif target < 0 <= source < len(run.units) - 1 or (source >= 0 and target >= 0 and source != target - 1):
            return False
        elif source >= 0 and target >= 0:
            before[target].add((start, end))
        elif target >= 0:
            outside[target].add((edge.source, edge.tensor, end))
    common = set.intersection(*outside)
    entered, chained = {end for _, _, end in outside[0] - common}, {end for _, end in before[1]}
    is_alike = all(one == within[0] for one in within) and all(one == before[1] for one in before[1:])
    return is_alike and bool(chained) and entered == chained and all(one == common for one in outside[1:])


def _leaves(nodes: Sequence[Node]) -> list[Node]:
    return [leaf for node in nodes for leaf in node.leaves()]


def _with_fold(found: Graph, run: Run) -> Graph:
    """The first unit for all of them, with the last one's edges to what follows."""
    first, *others = run.units
    own = _leaves(first)
    stands = {leaf: mine for unit in others for leaf, mine in zip(_leaves(unit), own, strict=True)}
    kept = (edge for edge in found.edges if edge.target not in stands)
    edges = tuple(replace(edge, source=stands.get(edge.source, edge.source)) for edge in kept)
    lasts = _lasts(found, run)
    _draw_once(run)
    return Graph(found.root, edges, lasts)


def _lasts(found: Graph, run: Run) -> dict[Tensor, Tensor]:
    """The tensors of the last unit by those of the first."""
    first, *_, last = (_tensors(unit, found.edges) for unit in run.units)
    pairs = zip(first, last, strict=True)
    return {**found.lasts, **{tensor: found.lasts.get(other, other) for tensor, other in pairs}}


def _draw_once(run: Run) -> None:
    """In place of all units the first, or a frame around it, that knows the others."""
    around = run.units[0][0].parent
    assert around
    top, *others = whole = [unit[0] if len(unit) == 1 else _frame(around, unit) for unit in run.units]
    gone = {node for unit in run.units for node in unit}
    around.children = [*(child for child in around.children if child not in gone), top]
    copies = sum(sum(each.times) or each.repeat for each in whole)
    for other in others:
        _stand_for(top, other)
    top.times = (copies,)


def _tensors(unit: Sequence[Node], edges: Sequence[Edge]) -> list[Tensor]:
    """What its boxes make for one another, in one order for all units alike."""
    place = {leaf: at for at, leaf in enumerate(_leaves(unit))}
    inside = [edge for edge in edges if edge.source in place and edge.target in place]
    inside.sort(key=lambda edge: (place[edge.source], place[edge.target], edge.made))
    return [edge.tensor for edge in inside]


def _frame(around: Node, unit: Sequence[Node]) -> Node:
    """Around a unit of several siblings."""
    first, last = unit[0], unit[-1]
    key = f"{first.key} … {last.key}"
    node = Node(key, first.title, Form.FRAME, PartKind.STACK, around.level + 1, first.order, around)
    node.until = last.until or last.title
    node.parameters = sum(child.total for child in unit) // around.copies
    node.children = list(unit)
    for child in unit:
        child.parent = node
    return node


def _stand_for(node: Node, other: Node) -> None:
    """One node for both, and one for each pair of parts in them."""
    node.times = (*(node.times or (node.repeat,)), *(other.times or (other.repeat,)))
    node.others += [other, *other.others]
    node.until = other.until or other.title
    for own, its in zip(node.children, other.children, strict=True):
        _stand_for(own, its)
