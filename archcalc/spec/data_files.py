"""Reads a YAML file as a node; what is wrong with it is told with its line."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.spec import paths
from archcalc.spec.reading import Read, read_node
from archcalc.spec.yaml_reader import MAX_BYTES, Document, read


def document(file: Path) -> Document:
    """One file of YAML."""
    try:
        with paths.plain(file).open("rb") as stream:
            return read(stream.read(MAX_BYTES + 1), str(file))
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=str(file)) from None


@cache
def shipped(folder: str, name: str) -> dict[str, Any]:
    """What a file that ships says, read once."""
    found: dict[str, Any] = document(paths.shipped(folder)[name]).data
    return found


_NODES: dict[tuple[Path, type], Any] = {}


def node(file: Path, kind: type[Read]) -> Read:
    """One file as a node of that kind, read once."""
    if (file, kind) not in _NODES:
        found = document(file)
        with found.locating():
            _NODES[file, kind] = read_node(kind, found.data)
    made: Read = _NODES[file, kind]
    return made
