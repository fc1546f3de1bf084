"""JSON Schema of the spec, for editors: one schema for each family, told apart by `family`."""

from __future__ import annotations

from typing import Any

from archcalc.archs import FAMILIES, family_module

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema() -> dict[str, Any]:
    definitions: dict[str, Any] = {}
    families = []
    for family in FAMILIES:
        described = family_module(family).Spec.model_json_schema(ref_template=f"#/$defs/{family}.{{model}}")
        definitions |= {f"{family}.{name}": inner for name, inner in described.pop("$defs", {}).items()}
        definitions[family] = described
        families.append(_branch(family))
    known = {"family": {"enum": list(FAMILIES)}}
    head = {"$schema": DIALECT, "title": "archcalc spec", "type": "object", "properties": known}
    return {**head, "allOf": families, "$defs": definitions}


def _branch(family: str) -> dict[str, Any]:
    """A spec that names no family is a Transformer."""
    named = {"properties": {"family": {"const": family}}}
    condition = named if family == "transformer" else {**named, "required": ["family"]}
    return {"if": condition, "then": {"$ref": f"#/$defs/{family}"}}
