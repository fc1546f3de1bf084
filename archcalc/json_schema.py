"""JSON Schema of the spec, for editors: one schema for each family, told apart by `family`."""

from __future__ import annotations

from typing import Any

from archcalc.archs import families, family_module
from archcalc.spec.node import Lazy, Node

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    branches = []
    for family in families():
        spec = family_module(family).Spec
        _build(spec)
        described = spec.model_json_schema(ref_template=f"#/$defs/{family}.{{model}}")
        definitions |= {f"{family}.{name}": inner for name, inner in described.pop("$defs", {}).items()}
        definitions[family] = described
        branches.append(_branch(family))
    known = {"family": {"enum": list(families())}}
    head = {"$schema": DIALECT, "title": "archcalc spec", "type": "object", "properties": known}
    return {**head, "allOf": branches, "$defs": definitions}


def _branch(family: str) -> dict[str, Any]:
    """A spec that names no family is a Transformer."""
    named = {"properties": {"family": {"const": family}}}
    condition = named if family == "transformer" else {**named, "required": ["family"]}
    return {"if": condition, "then": {"$ref": f"#/$defs/{family}"}}


def _build(spec: type[Node]) -> None:
    """Classes are built on first use; some versions of pydantic describe a default of one only once it is built."""
    for field in spec.model_fields.values():
        for mark in field.metadata:
            if isinstance(mark, Lazy):
                _build(mark.node)
    for node in (spec, *_below(Node)):
        node.model_rebuild()


def _below(node: type[Node]) -> list[type[Node]]:
    return [inner for child in node.__subclasses__() for inner in (child, *_below(child))]
