"""A resolved spec as plain values, without what the reference is to work out by itself."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from archcalc.core.derived import Derived
from archcalc.spec.node import Node


def plain(value: Any) -> Any:
    """All that the reference is given: dicts, lists, numbers and strings.

    A class with a `spec_kind` gives it as `type`, a derived size nothing; one with `for_witness` says itself what."""
    if isinstance(value, Derived) or getattr(type(value), "is_derived", False):
        return None
    if hasattr(value, "for_witness"):
        return plain(value.for_witness)
    if is_dataclass(value) and not isinstance(value, type):
        declared = {"type": value.spec_kind} if hasattr(value, "spec_kind") else {}
        return declared | {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Node):
        return {name: plain(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return sorted(value) if isinstance(value, frozenset | set) else value
