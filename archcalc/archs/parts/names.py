"""Names of inputs and parts as a spec writes them: one, or a list."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

from archcalc.spec.node import as_tuple, mistake, shown


def _names(value: Any) -> Any:
    several = as_tuple(value)
    if not all(isinstance(name, str) for name in several):
        raise mistake(f"expected the name of an input or a part, or a list of them, found {shown(value)}")
    return several


_NAMES_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Names = Annotated[tuple[str, ...], BeforeValidator(_names), WithJsonSchema(_NAMES_SCHEMA)]
