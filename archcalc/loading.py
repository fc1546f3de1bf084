"""Load a Model from a preset's name, a file, standard input, or a dict."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers import files
from archcalc.importers.asked import PLAINLY, Asked
from archcalc.importers.beside import CONFIG, MAX_JSON
from archcalc.model import Model
from archcalc.spec import paths
from archcalc.spec.option_checks import checked
from archcalc.spec.plain_data import plain
from archcalc.spec.reach import reach
from archcalc.spec.yaml_reader import Document

DEFAULT = "textbook"
_ADDRESS = re.compile(r"hf:|[a-z][a-z0-9+.-]*://|(www\.)?(huggingface|hf)\.co/", re.IGNORECASE)  # no path is so written


def source(model: Any, option: str) -> str | dict[Any, Any]:
    """The model argument: a name or path as a string, or a dict with the model's data."""
    if isinstance(model, Mapping):
        return dict(plain(model))
    name = os.fspath(model) if isinstance(model, str | os.PathLike) else None
    if not isinstance(name, str):
        hint = "give a preset's name, a path, hf:owner/name or a dict"
        raise InputError(f"a {type(model).__name__} names no model", hint, field=option)
    return name


@partial(checked, model=source)
def load(
    model: str | os.PathLike[str] | Mapping[str, Any] = DEFAULT,
    *,
    set: Sequence[str] = (),
    trace: bool = False,
    like: str | None = None,
) -> Model:
    """Load a preset by name, a file or folder by path, `hf:owner/name`, `-` from standard input, a text or a dict.

    Text and dict hold what a file would: a spec, or a Hugging Face config. `set` changes fields; `trace` lets
    transformers build a config that archcalc cannot read; `like` names the model type that a config of an unknown type
    is read as.

    >>> load("gpt2").params().total
    124439808
    """
    asked = Asked(trace, like or "")
    if isinstance(model, Mapping):
        document, name = files.of_data(dict(model), asked=asked), "spec"
    elif not (named := str(model)).strip():
        raise InputError("the model's name is empty", "name a preset or a file; `archcalc presets` lists what ships")
    elif is_text(named):
        document, name = files.of_bytes(named.encode("utf-8", "replace"), "the text", asked=asked), "spec"
    elif named == "-" and not reach():
        name = "standard input"
        document = files.of_bytes(_standard_input(), name, asked=asked)
    elif _ADDRESS.match(named):
        from archcalc.importers import hub

        wanted = hub.repository(named)
        if bounds := reach():
            bounds.check_network(named)
        document, name = hub.document(wanted, asked=asked), wanted.shown.removeprefix("hf:")
    else:
        file, notes = _file(named)
        return replace(from_file(file, tuple(set), asked=asked, notes=notes), load=load)
    return replace(Model.from_document(_told(document, asked), name, tuple(set)), load=load)


def from_file(
    file: Path, changes: tuple[str, ...] = (), *, asked: Asked = PLAINLY, notes: tuple[str, ...] = ()
) -> Model:
    """Load the model of an existing file. A shipped preset is shown by its name, another file by its path; a
    config.json is called by its folder."""
    shipped, name = file.is_relative_to(paths.data_root()), file.stem
    document = files.of_path(file, f"preset {name}" if shipped else str(file), asked=asked)
    document.shipped = shipped
    document.notes = (*notes, *document.notes)
    if not shipped and file.is_dir():
        name = file.resolve().name
    elif not shipped and file.name == CONFIG:
        name = file.resolve().parent.name
    return Model.from_document(_told(document, asked), name, changes)


def _told(document: Document, asked: Asked) -> Document:
    """A spec says itself what it is like."""
    if asked.like and not document.config:
        document.notes = (*document.notes, f"like {asked.like} has no effect: this is no config.json")
    return document


def is_text(name: str) -> bool:
    """Whether it is a spec or a config itself, and no name of one."""
    return "\n" in name or name.lstrip().startswith("{")


def is_model(name: str) -> bool:
    """Whether `load` would find something by that name; what it finds may still be no model."""
    if not name.strip():
        return False
    if name == "-" or is_text(name) or _ADDRESS.match(name):
        return True
    return certainly(_expanded(name).exists) or preset_called(name, paths.presets()) is not None


def from_preset(name: str) -> Model:
    """The preset of that name, exact or as people type it; never a file, never an address."""
    presets = paths.presets()
    found = None if _ADDRESS.match(name) else preset_called(name, presets)
    if found is None:
        from archcalc.core.errors import did_you_mean
        from archcalc.spec.preset_names import likely

        raise InputError(f"no preset is called {name}", did_you_mean(name, likely(name, presets) or presets))
    called, notes = found
    return from_file(paths.plain(presets[called]), notes=notes)


def preset_called(name: str, presets: Collection[str]) -> tuple[str, tuple[str, ...]] | None:
    """The preset that a name means, and what to say of it if it is called otherwise."""
    if name in presets:
        return name, ()
    from archcalc.spec.preset_names import known

    found = known(name, presets)
    return (found.preset, (found.told,)) if found else None


def yaml_text(name: str, made_by: str) -> tuple[bytes, str]:
    """A YAML file that is no spec, and its name for messages; `-` is standard input, `made_by` the command that writes
    such files."""
    path = _expanded(name)
    if name != "-" and not is_there(path):
        raise InputError("there is no such file", f"check the path; `{made_by}` writes one", field=name)
    try:
        raw = _standard_input() if name == "-" else files.text(path)
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=name) from None
    if not raw.strip():
        raise InputError("the file is empty", f"`{made_by}` writes one", field=name)
    return raw, "standard input" if name == "-" else name


def _standard_input() -> bytes:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("standard input is closed", "name the file instead of -")
    try:
        return sys.stdin.buffer.read(MAX_JSON + 1)
    except OSError as reason:
        raise InputError(f"standard input cannot be read: {reason.strerror or reason}") from None


def _file(name: str) -> tuple[Path, tuple[str, ...]]:
    """A preset's file, unless the name is plainly a path; and what to say of it if it is called otherwise."""
    presets = paths.presets()
    if name in presets and not certainly(Path(name).is_file):
        return paths.plain(presets[name]), ()
    path, bounds = _expanded(name), reach()
    allowed = bounds.placed(path) if bounds else path
    if allowed and is_there(allowed):
        return allowed, ()
    if path.suffix in (".yaml", ".yml", ".json") or name.count(os.sep) > 1 or name.startswith((os.sep, ".", "~")):
        if bounds and not allowed:
            raise bounds.refused(name)
        raise InputError("there is no such file", "check the path; `archcalc presets` lists what ships", field=name)
    if found := preset_called(name, presets):
        return paths.plain(presets[found[0]]), found[1]
    from archcalc.spec.preset_names import hint

    raise InputError(f"no preset and no file is called {name}", hint(name, presets))


def _expanded(name: str) -> Path:
    try:
        return Path(name).expanduser()
    except RuntimeError:
        fact = f"there is no user called {name.partition(os.sep)[0].removeprefix('~')}"
        if name == "~" or name.startswith(f"~{os.sep}"):
            fact = "this user has no home folder"
        raise InputError(fact, "write the path in full", field=name) from None


def certainly(test: Callable[[], bool]) -> bool:
    """Whether a file exists; False if that cannot be determined (no permission, name too long)."""
    try:
        return test()
    except (OSError, ValueError):
        return False


def is_there(path: Path) -> bool:
    """Whether it exists; raises if that cannot be determined, as without permission for the folder."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    except OSError as reason:
        if reason.errno == errno.ENAMETOOLONG:  # there can be none
            return False
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=str(path)) from None
    return True
