"""GGML's number formats: what a block of each holds and takes, as presets/gguf/types.yaml lists them."""

from __future__ import annotations

from functools import cache
from typing import Any

from archcalc.spec.data_files import document
from archcalc.spec.paths import data_root


@cache
def types() -> dict[int, dict[str, Any]]:
    """Each GGML type: its name, the numbers in a block of it, and the bytes that the block takes."""
    found: dict[str, dict[str, Any]] = document(data_root() / "gguf" / "types.yaml").data["types"]
    return {int(number): kind for number, kind in found.items()}
