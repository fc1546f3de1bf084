"""JSON Schema of the spec, for editors: one schema for each family, told apart by `family`."""

from __future__ import annotations

from typing import Any

from archcalc.archs import TOLD_BY, families, family_module
from archcalc.spec.node import Lazy, Node

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = 1  # grows when a spec that was valid is no more


def identity(of: str, version: int) -> str:
    """A `$id` is a name, and no address."""
    return f"urn:archcalc:schema:{of}:{version}"


def schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    branches = []
    for family in families():
        spec = family_module(family).Spec
        _build(spec)
        described = spec.model_json_schema(ref_template=f"#/$defs/{family}.{{model}}")
        definitions |= {f"{family}.{name}": inner for name, inner in described.pop("$defs", {}).items()}
        definitions |= {f"{family}.{word}": _item(word, node) for word, node in spec.items().items()}
        definitions[family] = _with_items(described, family, list(spec.items()))
        branches.append({"if": _is_of(family), "then": {"$ref": f"#/$defs/{family}"}})
    known = {"family": {"enum": list(families())}}
    head = {"$schema": DIALECT, "$id": identity("spec", VERSION), "title": "archcalc spec", "type": "object"}
    return {**head, "properties": known, "allOf": branches, "$defs": definitions}


def _is_of(family: str) -> dict[str, Any]:
    """A spec that names the family, or names none and has its fields."""
    named = {"properties": {"family": {"const": family}}, "required": ["family"]}
    told: list[dict[str, Any]] = [{"required": [field]} for field in TOLD_BY]
    layers: dict[str, Any] = {"properties": {"layers": {"type": "array"}}, "required": ["layers"]}
    others: dict[str, list[dict[str, Any]]] = {
        **{one: [{"required": [field]}] for field, one in TOLD_BY.items()},
        "network": [layers, *({"not": each} for each in told)],
        "transformer": [{"not": each} for each in (*told, layers)],
    }
    if family not in others:
        return named
    return {"anyOf": [named, {"allOf": [{"not": {"required": ["family"]}}, *others[family]]}]}


def _item(word: str, node: type[Node]) -> dict[str, Any]:
    """An item of a list that starts with a word. Its sizes may be worked out, so that editors cannot check them."""
    about = {name: {"description": info.description} for name, info in node.model_fields.items()}
    fields = {word if name == node.main else name: text for name, text in about.items()}
    return {"title": word, "type": "object", "required": [word], "properties": fields}


def _with_items(described: dict[str, Any], family: str, words: list[str]) -> dict[str, Any]:
    """Every list of the spec that takes items takes these."""
    if words:
        refs = [{"$ref": f"#/$defs/{family}.{word}"} for word in words]
        listed = {"anyOf": [{"type": "string"}, {"type": "array"}, *refs]}
        layers = {**described["properties"]["layers"], "items": listed}
        return {**described, "properties": {**described["properties"], "layers": layers}}
    return described


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
