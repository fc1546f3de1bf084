"""What a spec leaves out: the value that was taken for it, and the field that changes it.

A family declares its defaults with a function `defaults(spec, resolved)`. Those with words are choices that change a
number and that people make differently, so reports on a spec that leaves them out name them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import Path, dotted
from archcalc.spec.fields import node_at
from archcalc.spec.node import Node


class Default(NamedTuple):
    """`value` as it would be written at `field`, and in words where reports should name it."""

    field: Path
    value: Any
    words: str = ""


def left_out(spec: Node, defaults: Iterable[Default]) -> Iterator[Default]:
    """The defaults whose field the spec writes nowhere: neither at the top, nor in a node that inherits its fields."""
    inner = [node for name in spec.model_fields_set if isinstance(node := getattr(spec, name), Node)]
    for each in defaults:
        stacks = [node for node in inner if shares(type(spec), type(node), str(each.field[0]))]
        if not any(_at(node, each.field) for node in (spec, *stacks)):
            yield each


def shares(spec: type[Node], stack: type[Node], name: str) -> bool:
    """Whether one class declares the field of both, so that a stack inherits it from the model."""
    bases = set(spec.__mro__) & set(stack.__mro__)
    return any(issubclass(base, Node) and name in base.model_fields for base in bases)


def _at(node: Any, field: Path) -> bool:
    for name in field:
        if not isinstance(node, Node) or name not in node.model_fields_set:
            return False
        node = getattr(node, str(name))
    return True


def assumed(spec: Node, defaults: Iterable[Default]) -> tuple[Assumption, ...]:
    """What reports say of a spec that leaves choices out."""
    found: list[Assumption] = []
    for each in left_out(spec, defaults):
        node = node_at(type(spec), each.field[:-1])
        is_main = node is not None and node.main == each.field[-1]  # `head` is short for `head.kind`
        is_number = isinstance(each.value, int) and not isinstance(each.value, bool)
        value = each.value if is_number else str(each.value).lower()
        if each.words:
            shown = dotted(each.field[:-1] if is_main else each.field)
            found.append(Assumption(Topic.DEFAULT, each.words, value, shown))
    return tuple(found)
