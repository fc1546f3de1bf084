"""A spec with every default filled in, as YAML that loads to the same model; what was filled in is marked.

A stack inherits fields of the model and a part those of its stack, so a default is written once, where all inherit it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from archcalc.core.errors import Path
from archcalc.spec.defaults import Default, left_out, shares
from archcalc.spec.fields import extra, node_of
from archcalc.spec.node import Node
from archcalc.spec.yaml_writer import field_text, flow, plain

MARK = "  # default"
HEAD = (
    "# Every default is filled in, and marked `default`. A line that begins with # tells what holds without the field."
)


def filled_yaml(spec: Node, defaults: Iterable[Default]) -> str:
    """Every field on a line of its own."""
    return "\n".join([HEAD, *_Filled(spec, defaults).block(spec, ())]) + "\n"


class _Filled:
    def __init__(self, spec: Node, defaults: Iterable[Default]) -> None:
        self.spec = spec
        self.values = {each.field: each.value for each in left_out(spec, defaults)}

    def block(self, node: Node, path: Path) -> list[str]:
        """The fields of a node that its kind has."""
        kind = getattr(node, "kind", None)
        of_kind = {*node.fields_of.get(str(kind), ()), "kind"}
        names = [name for name in type(node).model_fields if not node.fields_of or kind is None or name in of_kind]
        return [line for name in names for line in self._field(node, name, (*path, name))]

    def _field(self, node: Node, name: str, path: Path) -> list[str]:
        value = getattr(node, name)
        if name in node.model_fields_set and value is not None:
            return self._written(name, value, path)
        if path in self.values:
            return self._default(node, name, self.values[path], path)
        inherits = len(path) > 1 and shares(type(self.spec), type(node), name)
        needed, unless = _extra(node, name, "needs"), _extra(node, name, "unless")
        is_out_of_place = (needed and not getattr(node, needed)) or (unless and getattr(node, unless))
        if inherits or is_out_of_place:
            return []
        return self._default(node, name, value, path)

    def _written(self, name: str, value: Any, path: Path) -> list[str]:
        only = value[0] if isinstance(value, tuple) and len(value) == 1 else value
        node = only if isinstance(only, Node) else None
        # fields that it leaves out may come from the model's field of that name, as those of a part's norm do
        above = type(self.spec).model_fields.get(name) if len(path) > 1 else None
        is_merged = above is not None and node_of(above) is type(node) and bool(getattr(self.spec, name))
        if node is None or is_merged:
            return field_text(name, plain(value)).splitlines()
        return _below(name, self.block(node, path)) or [f"{name}: {{}}"]

    def _default(self, node: Node, name: str, value: Any, path: Path) -> list[str]:
        if isinstance(value, Node):
            return _below(name, self.block(value, path))
        if value is None or value in ((), {}):
            unset = _extra(node, name, "unset")
            return [f"# {name}: {unset}"] if unset else []
        return [flow({name: plain(value)})[1:-1] + MARK]


def _extra(node: Node, name: str, key: str) -> str:
    return str(extra(type(node).model_fields[name]).get(key, ""))


def _below(name: str, lines: list[str]) -> list[str]:
    """The fields of a node under its name; nothing where all of them are comments."""
    has_fields = any(not line.startswith("#") for line in lines)
    return [f"{name}:", *(f"  {line}" for line in lines)] if has_fields else []
