"""One level of the graph: the children of a node, the wires between them, and those from and to the outside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from archcalc.analyze.diagram.graph import Edge, Form, Node
from archcalc.render.diagram.area import Wire


@dataclass(frozen=True)
class Link:
    """A wire from one child to another. The latest-made wire that a child reads is its main one."""

    source: Node
    target: Node
    wire: Wire
    made: int
    is_back: bool = False  # from a later child to an earlier one


@dataclass
class Level:
    """`ins` are read by children and made outside, `outs` are made by children and read outside."""

    children: list[Node]
    links: list[Link] = field(default_factory=list)
    ins: list[tuple[Wire, Node, int]] = field(default_factory=list)
    outs: list[tuple[Node, Wire]] = field(default_factory=list)
    inner: frozenset[Wire] = frozenset()  # wires that some child reads from another


def latest(ways: Iterable[Any]) -> dict[Any, Any]:
    """The link or hop made last, of those that each target reads: the branch, where a residual is added to it."""
    found: dict[Any, Any] = {}
    for way in ways:
        if not way.is_back and (way.target not in found or way.made > found[way.target].made):
            found[way.target] = way
    return found


def level(around: Node, edges: Iterable[Edge]) -> Level:
    """The edges as the children of a node see them."""
    found = Level(in_order(around))
    home = {below: child for child in around.children for below in child.walk()}
    position = {child: index for index, child in enumerate(found.children)}
    links: dict[tuple[Node, Node, Wire], Link] = {}
    ins: dict[tuple[Wire, Node], int] = {}
    outs: dict[tuple[Node, Wire], None] = {}
    for edge in edges:
        source, target, wire = home.get(edge.source), home.get(edge.target), Wire(edge.source, edge.tensor)
        if source and target and source is not target:
            is_back = edge.feedback or position[source] > position[target]
            links[source, target, wire] = Link(source, target, wire, edge.made, is_back)
        elif target and not source:
            ins[wire, target] = edge.made
        elif source and not target:
            outs[source, wire] = None
    found.links, found.outs = list(links.values()), list(outs)
    found.ins = [(wire, target, made) for (wire, target), made in ins.items()]
    found.inner = frozenset(link.wire for link in found.links)
    return found


def in_order(around: Node) -> list[Node]:
    """Its children in the order of the forward pass; what enters and what is handed on, before its readers."""
    return sorted(around.children, key=lambda node: (node.order, node.form not in (Form.INPUT, Form.STATE)))


def part(whole: Level, children: Sequence[Node]) -> Level:
    """The level as some of its children see it: links to and from the others go outside."""
    own = set(children)
    found = Level([child for child in whole.children if child in own])
    found.links = [link for link in whole.links if link.source in own and link.target in own]
    crossing = [link for link in whole.links if (link.source in own) != (link.target in own)]
    found.ins = [each for each in whole.ins if each[1] in own]
    found.ins += [(link.wire, link.target, link.made) for link in crossing if link.target in own]
    outs = [each for each in whole.outs if each[0] in own]
    found.outs = list(dict.fromkeys([*outs, *((link.source, link.wire) for link in crossing if link.source in own)]))
    found.inner = whole.inner
    return found
