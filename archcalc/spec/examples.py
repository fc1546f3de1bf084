"""An example of every field, as YAML that is accepted where it is typed: with the fields it is refused without."""

from __future__ import annotations

from typing import Any, get_origin

from pydantic.fields import FieldInfo

from archcalc.spec.fields import Place, extra, node_at
from archcalc.spec.node import Node
from archcalc.spec.yaml_writer import flow


def example_of(spec: type[Node], place: Place) -> str:
    """The field as it is written: `position: {kind: learned, length: 1024, offset: 2}`."""
    value = _example(place.info)
    if place.item:
        return flow(_as_item(place, value))
    for depth in range(len(place.path), 1, -1):
        value = _in_its_node(spec, place.path[:depth], value)
    return flow(_around(spec, place.path[0], value))[1:-1]


def _example(info: FieldInfo) -> Any:
    return (info.examples or [None])[0]


def _in_its_node(spec: type[Node], path: tuple[str, ...], value: Any) -> Any:
    """What is written behind the name of the node that has the field."""
    *above, of, name = path
    node, holder = node_at(spec, path[:-1]), node_at(spec, tuple(above))
    assert node and holder
    fields = _around(node, name, value)
    short = fields[name] if list(fields) == [node.main] else fields
    info = holder.model_fields[of]
    has_names = get_origin(info.annotation) is dict  # several nodes, each by a name
    return {next(iter(_example(info))): short} if has_names else short


def _around(node: type[Node], name: str, value: Any) -> dict[str, Any]:
    """A field with the kind that has it and what it is refused without."""
    kind = _needed_kind(node, name)
    kinds = {"kind": kind} if kind else {}
    return {**kinds, **_needed(node, name, str(value) if name == "kind" else kind), name: value}


def _as_item(place: Place, value: Any) -> dict[str, Any]:
    """A layer with its fields: `{conv: 64, kernel: 3, stride: 2}`."""
    node, main = place.node, place.node.main
    kind = _needed_kind(node, place.name)
    kinds = {main: kind} if kind else {}
    shown = {main: _example(node.model_fields[main]), **_needed(node, place.name, kind), **kinds, place.name: value}
    return {place.item if name == main else name: each for name, each in shown.items()}


def _needed(node: type[Node], name: str, kind: str) -> dict[str, Any]:
    """The other fields that an example of this one is refused without, each with its own example."""
    infos = node.model_fields
    usual = infos["kind"].default if "kind" in infos else ""
    told = extra(infos[name])
    required = [each for each, info in infos.items() if info.is_required()]
    needs = [each for each in [told.get("needs")] if each and not infos[each].default]
    names = [*required, *node.needed_of.get("", ()), *node.needed_of.get(kind or usual, ()), *needs]
    beside: dict[str, Any] = told.get("beside", {})
    return {each: _example(infos[each]) for each in dict.fromkeys(names) if each not in {name, *beside}} | beside


def _needed_kind(node: type[Node], name: str) -> str:
    """The first kind that has the field, if the usual one does not."""
    usual = node.model_fields.get("kind")
    have = [kind for kind, fields in node.fields_of.items() if name in fields]
    is_of_all = len(have) == len(node.fields_of) and usual is not None and usual.default is None
    return have[0] if have and usual and usual.default not in have and not is_of_all else ""
