"""Every field that a spec may have: the places where it may stand, and the node that declares it."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from copy import copy
from functools import cache
from typing import Any, NamedTuple

from pydantic.fields import FieldInfo

from archcalc.core.errors import Path
from archcalc.spec.node import HasFieldsOf, Lazy, Node

Names = tuple[str, ...]


class Place(NamedTuple):
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
    found = [*_walked(spec, (), ())]
    for word, node in spec.items().items():  # `conv.kernel`, of the items of a list that start with `conv`
        for name, info in node.model_fields.items():
            words = extra(info).get("words", {})
            if words.get(word):  # as one of several words that share it has it
                own = copy(info)
                own.description, own.examples = words[word]
                found.append(Place((word, name), node, own, word))
            elif word not in words:
                found.append(Place((word, name), node, info, word))
    return tuple(found)


def _walked(spec: type[Node], above: Names, around: tuple[type[Node], ...]) -> Iterator[Place]:
    for name, info in spec.model_fields.items():
        under = extra(info).get("under")  # the only node that takes the field
        if name in spec.refused or (under and above[-1:] != (under,)):
            continue
        yield Place((*above, name), spec, info)
        inner = node_of(info)
        if inner and inner not in around:
            yield from _walked(inner, (*above, name), (*around, spec))


def extra(info: FieldInfo) -> dict[str, Any]:
    """What a field says of itself besides its sentence."""
    if isinstance(info.json_schema_extra, dict):
        return dict(info.json_schema_extra)
    return {}


def node_of(info: FieldInfo) -> type[Node] | None:
    """The node that a field's value is, or that a list of them holds."""
    marked = [mark.node for mark in info.metadata if isinstance(mark, (HasFieldsOf, Lazy))]
    return next(iter([*marked, *_nodes_in(info.annotation)]), None)


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
