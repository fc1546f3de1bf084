"""Every field of every family says what it means, and how it is written."""

from __future__ import annotations

from typing import Any

from archcalc.archs import families, family_module
from archcalc.json_schema import schema
from archcalc.spec.fields import Place, places
from archcalc.spec.node import Node


def fields() -> dict[str, Place]:
    """Each field once, at one of its places."""
    every = (place for family in families() for place in places(family_module(family).Spec))
    return {f"{place.owner.__module__}.{place.owner.__name__}.{place.name}": place for place in every}


def test_every_field_is_described_in_a_sentence() -> None:
    told = {name: place.info.description or "" for name, place in fields().items()}
    assert len(told) > 200
    assert [name for name, about in told.items() if not is_sentence(about)] == []


def is_sentence(about: str) -> bool:
    return about[:1].isupper() and about.endswith(".") and len(about) > 12


def test_every_example_is_a_value_that_its_field_takes() -> None:
    for name, place in fields().items():
        (example,) = place.info.examples or [None]
        read = place.node.model_validate({**required(place.node), place.name: example})
        assert getattr(read, place.name) is not None, name


def required(node: type[Node]) -> dict[str, Any]:
    return {name: (info.examples or [None])[0] for name, info in node.model_fields.items() if info.is_required()}


def test_the_schema_for_editors_has_the_sentences() -> None:
    definitions = schema()["$defs"]
    properties = [one for node in definitions.values() for one in _properties(node)]
    silent = [name for name, inner in properties if not inner.get("description")]
    assert len(properties) > 200
    assert silent == []


def _properties(node: Any) -> list[tuple[str, dict[str, Any]]]:
    """The fields of a definition, which may be one of a choice."""
    shapes = [node, *node.get("anyOf", ())] if isinstance(node, dict) else []
    return [(name, inner) for shape in shapes for name, inner in shape.get("properties", {}).items()]
