"""docs/language.md names every field that a Transformer may have."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from archcalc.archs.transformer import nodes, spec
from archcalc.archs.transformer.parts import SLOTS
from archcalc.spec.node import Node

PAGE = (Path(__file__).parent.parent.parent / "docs" / "language.md").read_text(encoding="utf-8")
EVERYWHERE = {"kind", "like"}


def of_parts() -> set[type[Node]]:
    modules = [importlib.import_module(f"archcalc.archs.transformer.parts.{slot}") for slot in set(SLOTS) - {"cross"}]
    return {value for module in (*modules, nodes, spec) for value in vars(module).values() if is_of_language(value)}


def is_of_language(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, Node) and value.__module__.startswith("archcalc.archs.")


FIELDS = sorted({field for node in of_parts() for field in node.model_fields} - EVERYWHERE)
ABOUT_THE_FILE = {"family", "name", "about", "source", "published", "scope", "precision", "batch", "seq"}


@pytest.mark.parametrize("field", [field for field in FIELDS if field not in ABOUT_THE_FILE])
def test_every_field_is_told(field: str) -> None:
    assert re.search(rf"\b{field}\b", PAGE)
