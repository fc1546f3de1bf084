"""The config.json of each preset that has one, as published: its values were compared with the preset's."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root


def config_of(name: str) -> dict[str, Any]:
    """By the name of the preset; empty where it has none."""
    return _configs().get(name, {})


@cache
def _configs() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((data_root() / "configs.json").read_text(encoding="utf-8"))
    return found
