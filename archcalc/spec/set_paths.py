"""The path of a `--set`: `decoder.ffn.width`, `layers[9].linear`, `layers[-1].repeat`, `image` for `embedding.image`.

Items of a list are counted from 0, or with a minus from its end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from archcalc.core.errors import InputError, Path, dotted
from archcalc.spec.node import ModelSpec, shown
from archcalc.spec.plain_data import plain

_PART = re.compile(r"([^\[\]]+)((?:\[-?[0-9]{1,9}\])*)")
_MISSING = object()


def as_data(spec: ModelSpec) -> dict[str, Any]:
    """The fields as they are written."""
    return dict(plain(spec.model_dump(exclude_unset=True)))


def full_path(spec: ModelSpec, path: str) -> Path:
    """The keys of a path, with the items of lists counted from 0. A field may go by its last name where the spec has it
    in one place only."""
    keys: Path = ()
    for part in path.strip().split("."):
        match = _PART.fullmatch(part)
        if not match:
            raise InputError(f"'{part}' is no field", "write a path such as decoder.blocks or layers[0].linear")
        keys = (*keys, match[1], *map(int, re.findall(r"-?[0-9]+", match[2])))
    data = as_data(spec)
    if keys[0] not in type(spec).model_fields:
        found = list(_places(data, keys[0]))
        keys = (*found[0], *keys[1:]) if len(found) == 1 else keys
    return tuple(_counted(data, keys))


def _places(data: Any, key: str | int) -> Iterator[Path]:
    for name, value in data.items() if isinstance(data, dict) else ():
        if name == key:
            yield (name,)
        yield from ((name, *rest) for rest in _places(value, key))


def _counted(data: Any, keys: Path) -> Iterator[str | int]:
    """Each key, where what is there has it."""
    for depth, key in enumerate(keys):
        above = dotted(keys[:depth])
        if isinstance(key, int):
            key = _index(data, key, above)
        elif isinstance(data, list) and len(data) > 1:
            hint = f"name one of them, such as {above}[0].{key}"
            raise InputError(f"{above} is a list of {len(data)}", hint)
        elif isinstance(data, str | int | float) and depth and isinstance(keys[depth - 1], int):
            raise InputError(
                f"{above} is {shown(data)}, which has no {key}", f"write {above}={{…}} to put fields there"
            )
        yield key
        if isinstance(data, dict):
            data = data.get(key, _MISSING)
        else:
            data = data[key] if isinstance(data, list) and isinstance(key, int) else _MISSING


def _index(data: Any, index: int, above: str) -> int:
    if data is _MISSING:
        raise InputError(f"{above} is not in the spec, so that it has no items", f"write the whole of it: {above}=[…]")
    if not isinstance(data, list):
        raise InputError(f"{above} is {shown(data)}, and no list", "leave the number out")
    if not -len(data) <= index < len(data):
        items = "1 item" if len(data) == 1 else f"{len(data)} items"
        hint = f"use {above}[0] to {above}[{len(data) - 1}], or write the whole list to add to it: {above}=[…]"
        raise InputError(f"{above}[{index}] is not there: {above} has {items}", hint if data else f"write {above}=[…]")
    return index % len(data)


def put(data: Any, path: Path, value: Any) -> Any:
    """The data with another value at a path; what is beside it stays."""
    if not path:
        return value
    key, *rest = path
    if isinstance(data, list):
        return [put(item, tuple(rest), value) if number == key else item for number, item in enumerate(data)]
    below = data.get(key) if isinstance(data, dict) else None
    return {**(data if isinstance(data, dict) else {}), key: put(below, tuple(rest), value)}


def at(data: Any, path: Path) -> Any:
    """What stands at a path that is there."""
    for key in path:
        data = data[key]
    return data
