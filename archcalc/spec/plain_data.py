"""Data passed as a dict instead of a file, normalised to what a file can hold: text, numbers, lists and fields."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from archcalc.core.errors import InputError, Path

LONGEST = 4096  # bits of a number: more than any size, and few enough that Python writes them out
DEEPEST = 100  # fields within fields: more than any spec, and less than Python's own bound


def plain(value: Any, path: Path = ()) -> Any:
    """Lists and fields as lists and dicts of their own; integers of other libraries as Python's."""
    if len(path) > DEEPEST:
        raise InputError(f"more than {DEEPEST} fields within fields", fields=[path[:3]])
    if isinstance(value, Mapping):
        fields = {}
        for key, each in value.items():
            if not isinstance(key, str):
                raise InputError(f"expected names of fields as text, found a {type(key).__name__}", fields=[path])
            fields[key] = plain(each, (*path, key))
        return fields
    if isinstance(value, list | tuple):
        return [plain(each, (*path, place)) for place, each in enumerate(value)]
    if value is None or isinstance(value, bool | str | float):
        return value
    try:
        number = int(operator.index(value))
    except TypeError:
        fact = f"expected text, a number, a list or fields, found a {type(value).__name__}"
        raise InputError(fact, fields=[path]) from None
    if number.bit_length() > LONGEST:
        raise InputError("a number of more digits than any size has", fields=[path])
    return number
