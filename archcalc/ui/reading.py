"""A question as a page sends it, read with care: whatever has another form is refused in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.core.errors import InputError

Answer = dict[str, Any]
MOST_ITEMS = 64  # of a list: devices, models
LONGEST = 10_000  # characters of a setting or a name


class Question:
    """What is asked, with its parts by name."""

    def __init__(self, asked: Any) -> None:
        if not isinstance(asked, Mapping):
            raise InputError("expected a question with its parts by name")
        self.asked = asked

    def text(self, name: str, usual: str | None = None) -> str:
        found = self.asked.get(name, usual)
        if not isinstance(found, str) or len(found) > LONGEST:
            raise InputError(f"expected a text called {name}", field=name)
        return found

    def flag(self, name: str, usual: bool) -> bool:
        found = self.asked.get(name, usual)
        if not isinstance(found, bool):
            raise InputError(f"expected true or false for {name}", field=name)
        return found

    def texts(self, name: str) -> list[str]:
        """A list of names; empty where there is none."""
        found = self.listed(name)
        if not all(isinstance(one, str) and len(one) <= LONGEST for one in found):
            raise InputError(f"expected a list of names for {name}", field=name)
        return found

    def listed(self, name: str) -> list[Any]:
        found = self.asked.get(name) or []
        if not isinstance(found, list) or len(found) > MOST_ITEMS:
            raise InputError(f"expected a list of at most {MOST_ITEMS} for {name}", field=name)
        return found

    @property
    def source(self) -> Any:
        return self.asked.get("source")

    @property
    def settings(self) -> dict[str, Any]:
        """Options by their names on the command line; empty ones are not given."""
        found = self.asked.get("settings", {})
        if not isinstance(found, dict) or len(found) > MOST_ITEMS:
            raise InputError("expected settings by name", field="settings")
        return {name: value for name, value in found.items() if value not in ("", None, False)}
