"""The config.json of each preset that has one, as published: its values were compared with the preset's."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root


@cache
def configs() -> dict[str, dict[str, Any]]:
    """By the name of the preset."""
    found: dict[str, dict[str, Any]] = json.loads((data_root() / "configs.json").read_text(encoding="utf-8"))
    return found
