"""What a file is, told by what stands in it, and the document that it gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from archcalc.document import MAX_BYTES, Document, read
from archcalc.errors import InputError

CONFIG = "config.json"


def document(raw: bytes, file: str) -> Document:
    """A spec as it stands, or the spec that another kind of file stands for."""
    said = _json_object(raw)
    if said is not None:
        from archcalc.importers.hf import imported

        if imported.looks_like_config(said):
            return _placed(said, file)
    return read(raw, file)


def _placed(said: dict[str, Any], file: str) -> Document:
    from archcalc.importers.hf import imported

    try:
        return imported.document(said, file)
    except InputError as error:
        error.file = error.file or file
        raise


def _json_object(raw: bytes) -> dict[str, Any] | None:
    """None for what is not JSON, or is too long to be a config."""
    if raw.lstrip()[:1] != b"{" or len(raw) > MAX_BYTES:
        return None
    try:
        said = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def in_folder(folder: Path) -> Path:
    """The file of a folder that says what the model is."""
    if (folder / CONFIG).is_file():
        return folder / CONFIG
    raise InputError("this folder has no config.json", "give the file that describes the model", field=str(folder))
