"""From what a user names to a Model: a preset, a file, standard input, or a dict."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from archcalc import data
from archcalc.document import MAX_BYTES
from archcalc.errors import InputError
from archcalc.importers import files
from archcalc.model import Model, from_document
from archcalc.options import checked
from archcalc.plain_data import plain

DEFAULT = "textbook"


def source(model: Any, option: str) -> str | dict[Any, Any]:
    """What names a model, as text, or the data that is one."""
    if isinstance(model, Mapping):
        return dict(plain(model))
    name = os.fspath(model) if isinstance(model, str | os.PathLike) else None
    if not isinstance(name, str):
        hint = "give a preset's name, a path, hf:owner/name or a dict"
        raise InputError(f"a {type(model).__name__} names no model", hint, field=option)
    return name


@checked(model=source)
def load(
    model: str | os.PathLike[str] | Mapping[str, Any] = DEFAULT, *, set: Sequence[str] = (), trace: bool = False
) -> Model:
    """Load a preset by name, a file or folder by path, `hf:owner/name`, `-` from standard input, or a dict.

    A dict holds what a file would: a spec, or a Hugging Face config. `set` changes fields; `trace` lets transformers
    build a config that archcalc cannot read.

    >>> load("gpt2").params().total
    124439808
    """
    changes = tuple(set)
    if isinstance(model, Mapping):
        return from_document(files.of_data(dict(model), trace=trace), "spec", changes)
    name = str(model)
    if name == "-":
        raw = sys.stdin.buffer.read(MAX_BYTES + 1)
        return from_document(files.of_bytes(raw, "standard input", trace=trace), "standard input", changes)
    if name.startswith("hf:"):
        from archcalc.importers import hub

        return from_document(hub.document(name, trace=trace), name.removeprefix("hf:"), changes)
    file = _file(name)
    return from_document(files.of_path(file, _shown(file), trace=trace), _called(file), changes)


def _file(name: str) -> Path:
    """A preset's file, unless the name is plainly a path."""
    path = Path(name).expanduser()
    presets = data.presets()
    if name in presets and not path.is_file():
        return presets[name]
    if path.exists():
        return path
    if path.suffix in (".yaml", ".yml", ".json") or name.count(os.sep) > 1 or name.startswith((os.sep, ".", "~")):
        raise InputError("there is no such file", "check the path; `archcalc presets` lists what ships", field=name)
    from archcalc.likely import hint

    raise InputError(f"no preset and no file is called {name}", hint(name, presets))


def _called(file: Path) -> str:
    """A model by its file, but a config.json by the folder that holds it."""
    if file.is_dir():
        return file.resolve().name
    return file.resolve().parent.name if file.name == files.CONFIG else file.stem


def _shown(file: Path) -> str:
    """A shipped preset by its name, another file by its path."""
    return f"preset {file.stem}" if file.is_relative_to(data.data_root()) else str(file)
