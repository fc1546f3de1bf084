"""Whether a file of answers still asks about the model that it was written with.

A fingerprint of model, questions and depth stands in the file. It says when one of them was changed since, by accident
or not; against a file that was made anew only the teacher's own sheet helps (`archcalc check --sheet`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from archcalc.core.errors import Path, dotted

FIELD = "fingerprint"
ASKED = ("model", "questions", "depth")
DIGITS = 12


def fingerprint(data: Mapping[str, Any]) -> str:
    """Of the data as it stands in the file: comments, quotes and the order of fields do not count."""
    asked = {field: data.get(field) for field in ASKED}
    canonical = json.dumps(asked, sort_keys=True, ensure_ascii=True, default=str)
    return hashlib.sha256(canonical.encode()).hexdigest()[:DIGITS]


def is_changed(data: Mapping[str, Any]) -> bool:
    """Files of older versions have none, which says nothing."""
    said = data.get(FIELD)
    return said is not None and str(said) != fingerprint(data)


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two sheets, field by field: `model.d_model: 1024, here 512`."""
    old, new = (dict(_flat({field: data.get(field) for field in ASKED})) for data in (before, after))
    differing = [path for path in dict.fromkeys((*old, *new)) if old.get(path) != new.get(path)]
    return [f"{dotted(path)}: {old.get(path, 'not there')}, here {new.get(path, 'not there')}" for path in differing]


def _flat(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _flat(inner, (*path, place))
    elif value is not None:
        yield path, value
