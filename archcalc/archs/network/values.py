"""What stands in the fields of a layer: words and layers as they are written, sizes that are worked out.

A word that the field takes is that word, whatever a parameter is called: `over: channels` of a layer norm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import WithJsonSchema
from pydantic.fields import FieldInfo

from archcalc.archs.network.expression import Mistake, Scope, evaluated
from archcalc.archs.network.layer import Place
from archcalc.spec.fields import node_of
from archcalc.spec.node import Node


@dataclass(frozen=True)
class Words:
    """Marks a field of sizes that takes these words too; `None` for one that is never worked out."""

    words: tuple[str, ...] | None = None


_LAYERS = {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "array"}]}}
Layers = Annotated[list[Any], Words(), WithJsonSchema(_LAYERS)]


def worked_out(node: type[Node], values: dict[str, Any], scope: Scope, place: Place) -> dict[str, Any]:
    """The fields of a node, each by its kind; those it does not have are left for its validation to refuse."""
    return {key: _field(node.model_fields.get(key), value, scope, place.below(key)) for key, value in values.items()}


def _field(info: FieldInfo | None, value: Any, scope: Scope, place: Place) -> Any:
    inner = node_of(info) if info else None
    if info is None or _is_as_written(info, value):
        return value
    if inner and isinstance(value, dict):
        return worked_out(inner, value, scope, place)
    if inner and inner.main and _is_as_written(inner.model_fields[inner.main], value):
        return value
    return number(value, scope, place)


def _is_as_written(info: FieldInfo, value: Any) -> bool:
    marks = [mark.words for mark in info.metadata if isinstance(mark, Words)]
    words = [word for mark in marks for word in mark or ()] + _choices(info.annotation)
    return None in marks or (isinstance(value, str) and value in words)


def _choices(annotation: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [choice for inner in get_args(annotation) for choice in _choices(inner)]


def number(value: Any, scope: Scope, place: Place) -> Any:
    """Texts that are expressions become their values; in lists too."""
    if isinstance(value, list):
        return [number(each, scope, place.below(index)) for index, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    try:
        return evaluated(value, scope)
    except Mistake as mistake:
        raise place.wrong(str(mistake)) from None
