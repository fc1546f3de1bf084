"""GGML's number formats: what a block of each holds and takes, as presets/gguf/types.yaml lists them."""

from __future__ import annotations

from functools import cache
from typing import Any

from archcalc.spec import yaml_reader
from archcalc.spec.paths import data_root


@cache
def types() -> dict[int, dict[str, Any]]:
    """Each GGML type: its name, the numbers in a block of it, and the bytes that the block takes."""
    file = data_root() / "gguf" / "types.yaml"
    found: dict[str, Any] = yaml_reader.read(file.read_bytes(), "GGML types").data
    return {int(number): kind for number, kind in found["types"].items()}
