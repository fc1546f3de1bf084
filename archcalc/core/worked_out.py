"""What a frozen dataclass works out of its fields, and remembers, stays out of its copies and pickles."""

from __future__ import annotations

from dataclasses import fields
from typing import Any


class WorkedOut:
    """A base of dataclasses that have a `cached_property`."""

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
