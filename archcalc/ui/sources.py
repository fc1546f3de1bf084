"""Models as a page names them: a preset, a text, or the header of a weights file; never a path, never an address.

Loaded models are kept, so that moving a slider does not read a spec anew.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any, TypeVar

from archcalc.core.errors import InputError
from archcalc.core.visible import visible
from archcalc.importers import files, starts, weight_names
from archcalc.loading import from_preset, preset_called
from archcalc.model import Model
from archcalc.spec import paths
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import setting_of

LONGEST_TEXT = 1 << 20  # characters
LONGEST_HEADER = 32 << 20  # bytes
LONGEST_EDITED = 200_000  # characters: a longer spec lists tensors, which nobody edits
LONGEST_NAME = 200
KEPT = 8  # models
USUAL_FILE = "model.yaml"
T = TypeVar("T")


@dataclass
class Loaded:
    """A model, and what was made of it that no setting changes."""

    model: Model
    made: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self.made:
            self.made[name] = make()
        found: T = self.made[name]
        return found


_kept: OrderedDict[str, Loaded] = OrderedDict()


def model_of(source: Any) -> Model:
    return loaded(source).model


def loaded(source: Any) -> Loaded:
    """The model, read once for each source."""
    given = [kind for kind in _READERS if source.get(kind) is not None] if isinstance(source, dict) else []
    if len(given) != 1 or not isinstance(source[given[0]], str):
        raise InputError("expected a model: a preset, a text or a header", field="source")
    key = hashlib.sha256(json.dumps(source, sort_keys=True).encode()).hexdigest()
    found = _kept.pop(key, None)
    if found is None:  # a draft model is a preset too
        found = Loaded(replace(_READERS[given[0]](source), load=from_preset))
    _kept[key] = found
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
    return found


def _preset(source: dict[str, Any]) -> Model:
    if not source["preset"].strip():
        raise InputError("the model's name is empty", "name a preset")
    return from_preset(source["preset"])


def _text(source: dict[str, Any]) -> Model:
    """As it would be read from a file of that name."""
    text, name = source["text"], file_of(source)
    if len(text) > LONGEST_TEXT:
        raise InputError(f"{len(text):,} characters are too long for a spec or a config", field=name)
    raw = text.encode("utf-8", "replace")  # halves of surrogate pairs, which no file can hold
    weight_names.check(name, raw)
    if weight_names.is_index(name):
        hint = "open one of the safetensors files that it names, or the model's config.json"
        raise InputError("an index names files, but no shapes", hint, field=name)
    return Model.from_document(files.of_bytes(raw, name), PurePosixPath(name).stem)


def _header(source: dict[str, Any]) -> Model:
    name, size = file_of(source), source.get("bytes")
    if not isinstance(size, int) or isinstance(size, bool):
        raise InputError("expected the size of the file in bytes", field="bytes")
    if len(source["header"]) > LONGEST_HEADER * 4 // 3 + 4:
        raise InputError(f"more than {LONGEST_HEADER:,} bytes are too long for a header", field=name)
    try:
        raw = base64.b64decode(source["header"], validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the header is not in base64", field=name) from None
    return Model.from_document(starts.of_start(raw, size, name), PurePosixPath(name).stem)


_READERS: dict[str, Callable[[dict[str, Any]], Model]] = {"preset": _preset, "text": _text, "header": _header}


def file_of(source: dict[str, Any]) -> str:
    """What the file is called, for messages and command lines; it is never opened."""
    said = source.get("file") or USUAL_FILE
    name = PurePosixPath(str(said)[:LONGEST_NAME].replace("\\", "/")).name
    return visible(name) or USUAL_FILE


def named(source: dict[str, Any]) -> str:
    """What stands for MODEL in a command line: the exact name of a preset, else the file's."""
    if not isinstance(source.get("preset"), str):
        return file_of(source)
    found = preset_called(source["preset"], paths.presets())
    return found[0] if found else str(source["preset"])


def open_answer(question: Question) -> Answer:
    """What an editor and its fields begin with."""
    source, model = question.source, model_of(question.source)
    spec = model.yaml()
    written = source.get("text") or spec
    edited, read = (text if len(text) <= LONGEST_EDITED else None for text in (written, spec))
    if model.document.text:  # it is a spec itself, and not what a config.json or a weights file was read as
        read = None
    return {
        "title": visible(model.name),
        "kind": model.kind,
        **asked_of(model),
        "yaml": edited,
        "spec": read,
        "file": f"{named(source)}.yaml" if "preset" in source else file_of(source),
        "command_model": named(source),
        "notes": [visible(note) for note in (*model.document.notes, *model.document.file_notes)],
    }


def asked_of(model: Model) -> Answer:
    """The family, and the sizes that are taken where none are given, by the names of their options."""
    work, lengths = model.workload(), model.resolved.lengths
    sizes = {"batch": work.batch, **work.lengths}
    return {
        "family": model.spec.family,
        "group": model.kind,
        "type": model.model_type,
        "sizes": {setting_of(name): str(size) for name, size in sizes.items()},
        "lengths": [setting_of(name) for name, limit in lengths.items() if not limit.fixed],
        "longest": {setting_of(name): str(limit.length) for name, limit in lengths.items() if limit.length},
    }
