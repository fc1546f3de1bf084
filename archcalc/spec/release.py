"""When a model was released, and under which names: fields that say nothing of its sizes, and by which it is found."""

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")  # owner/name, as on the Hub
_MONTH = re.compile(r"(19|20)\d\d(-(0[1-9]|1[0-2]))?")
_MONTH_SCHEMA = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": f"^{_MONTH.pattern}$"}]}
_NAME_SCHEMA = {"type": "string", "pattern": f"^{REPOSITORY.pattern}$"}


def _month(value: Any) -> str:
    """A year may be a number."""
    if isinstance(value, bool) or not _MONTH.fullmatch(str(value)):
        raise ValueError("expected a year or a month, such as 2025 or 2025-04")
    return str(value)


def _repositories(value: Any) -> tuple[str, ...]:
    names = tuple(value) if isinstance(value, list | tuple) else (value,)
    if not all(isinstance(name, str) and REPOSITORY.fullmatch(name) for name in names):
        raise ValueError("expected names of the Hub, such as Qwen/Qwen3-8B")
    return names


Month = Annotated[str, BeforeValidator(_month), WithJsonSchema(_MONTH_SCHEMA)]
Repositories = Annotated[
    tuple[str, ...],
    BeforeValidator(_repositories),
    WithJsonSchema({"anyOf": [_NAME_SCHEMA, {"type": "array", "items": _NAME_SCHEMA}]}),
]
