"""From what a user names to a Model: a preset, a file, standard input, or a dict."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from archcalc import data
from archcalc.document import MAX_BYTES, Document
from archcalc.errors import InputError, did_you_mean
from archcalc.importers import files
from archcalc.model import Model, from_document

DEFAULT = "textbook"


def load(model: str | os.PathLike[str] | Mapping[str, Any] = DEFAULT, *, set: Sequence[str] = ()) -> Model:
    """Load a preset by name, a YAML file by path, `-` from standard input, or a dict; `set` changes fields.

    >>> load("gpt2").params().total
    124439808
    """
    changes = tuple(set)
    if isinstance(model, Mapping):
        return from_document(Document("spec", data=dict(model)), "spec", changes)
    name = os.fspath(model)
    if name == "-":
        raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        return from_document(files.document(raw, "standard input"), "standard input", changes)
    file = _file(name)
    return from_document(files.document(_bytes(file), _shown(file)), _called(file), changes)


def _file(name: str) -> Path:
    """A preset's file, unless the name is plainly a path."""
    path = Path(name).expanduser()
    presets = data.presets()
    if name in presets and not path.is_file():
        return presets[name]
    if path.exists():
        return files.in_folder(path) if path.is_dir() else path
    if path.suffix in (".yaml", ".yml", ".json") or os.sep in name:
        raise InputError("there is no such file", "check the path; `archcalc presets` lists what ships", field=name)
    hint = did_you_mean(name, presets) + " `archcalc presets` lists all; a spec of your own is named by its file"
    raise InputError(f"no preset and no file is called {name}", hint)


def _bytes(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=_shown(file)) from None


def _called(file: Path) -> str:
    """A model by its file, but a config.json by the folder that holds it."""
    return file.resolve().parent.name if file.name == files.CONFIG else file.stem


def _shown(file: Path) -> str:
    """A shipped preset by its name, another file by its path."""
    return f"preset {file.stem}" if file.is_relative_to(data.data_root()) else str(file)
