"""Every field that a spec may have: the places where it may stand, and the node that declares it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from archcalc.core.errors import Path
from archcalc.spec.node import Lazy, Node
from archcalc.spec.yaml_writer import flow

Names = tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A field at one of its places: `("decoder", "ffn", "width")`."""

    path: Names
    node: type[Node]
    info: FieldInfo
    item: str = ""  # the word that the node starts with, where it stands in a list

    @property
    def name(self) -> str:
        return self.path[-1]

    @property
    def owner(self) -> type[Node]:
        """The class that declares it, which may be a base of the node."""
        declare = [base for base in self.node.__mro__ if self.name in inspect.get_annotations(base)]
        return declare[-1]


@cache
def places(spec: type[Node]) -> tuple[Place, ...]:
    """All fields of a spec, each before those inside it."""
    return (*_walked(spec, (), ()), *_in_lists(spec))


def _in_lists(spec: type[Node]) -> Iterator[Place]:
    """`conv.kernel`, of the items of a list that start with `conv`."""
    for word, node in spec.items().items():
        yield from (Place((word, name), node, info, word) for name, info in node.model_fields.items())


def _walked(spec: type[Node], above: Names, around: tuple[type[Node], ...]) -> Iterator[Place]:
    for name, info in spec.model_fields.items():
        yield Place((*above, name), spec, info)
        inner = node_of(info)
        if inner and inner not in around:
            yield from _walked(inner, (*above, name), (*around, spec))


def node_of(info: FieldInfo) -> type[Node] | None:
    """The node that a field's value is, or that a list of them holds."""
    lazy = [mark.node for mark in info.metadata if isinstance(mark, Lazy)]
    return next(iter([*lazy, *_nodes_in(info.annotation)]), None)


def _nodes_in(annotation: Any) -> list[type[Node]]:
    if isinstance(annotation, type) and issubclass(annotation, Node):
        return [annotation]
    return [node for inner in getattr(annotation, "__args__", ()) for node in _nodes_in(inner)]


def node_at(spec: type[Node], path: Path) -> type[Node] | None:
    """The node at a path, where there is one; numbers are places in a list."""
    node: type[Node] | None = spec
    for key in path:
        if node is not None and not isinstance(key, int):
            info = node.model_fields.get(key)
            node = node_of(info) if info else None
    return node


def example_of(spec: type[Node], place: Place) -> str:
    """The field as YAML, with the kind that has it: `attention: {kind: mla, kv_rank: 512}`."""
    (value,) = place.info.examples or [None]
    if place.item:
        return flow(_as_item(place, value))
    for depth in range(len(place.path), 0, -1):
        holder, name = node_at(spec, place.path[: depth - 1]), place.path[depth - 1]
        kind = _needed_kind(holder, name) if holder else ""
        fields = {**({"kind": kind} if kind else {}), name: value}
        value = _short(holder, fields) if depth > 1 else fields
    return flow(value)[1:-1]


def _as_item(place: Place, value: Any) -> dict[str, Any]:
    """With the fields that the item cannot be without: `{conv: 64, kernel: 3, stride: 2}`."""
    fields = place.node.model_fields
    needed = {name: (info.examples or [None])[0] for name, info in fields.items() if info.is_required()}
    kind = _needed_kind(place.node, place.name)
    kinds = {place.node.main: kind} if kind else {}
    shown = {place.node.main: (fields[place.node.main].examples or [None])[0], **needed, **kinds, place.name: value}
    return {place.item if name == place.node.main else name: each for name, each in shown.items()}


def _needed_kind(node: type[Node], name: str) -> str:
    """The first kind that has the field, if the usual one does not."""
    usual = node.model_fields.get("kind")
    have = [kind for kind, fields in node.fields_of.items() if name in fields]
    is_of_all = len(have) == len(node.fields_of)
    return have[0] if have and usual and usual.default not in have and not is_of_all else ""


def _short(node: type[Node] | None, fields: dict[str, Any]) -> Any:
    """A scalar where it stands for all fields."""
    return fields[node.main] if node and list(fields) == [node.main] else fields
