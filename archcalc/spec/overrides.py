"""Changes to a loaded spec: `--set path=value`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from archcalc.core.errors import InputError, Path, dotted
from archcalc.spec.fields import node_at
from archcalc.spec.model_spec import ModelSpec
from archcalc.spec.node import Node, merged, shown
from archcalc.spec.plain_data import plain
from archcalc.spec.reading import read_node
from archcalc.spec.yaml_reader import read

_PART = re.compile(r"([^\[\]]+)((?:\[-?[0-9]{1,9}\])*)")
_MISSING = object()


def changed(spec: ModelSpec, change: str) -> ModelSpec:
    """Apply `path=value`; the value is read as YAML reads it, and mappings merge as everywhere."""
    path, equals, value = change.partition("=")
    if not equals or not path.strip():
        hint = "write --set path=value, such as --set encoder.blocks=6"
        error = InputError(f"'{change}' is not of the form path=value", hint)
        error.file = "--set"  # the option is at fault, not the file that it would change
        raise error
    try:
        return merged(spec, read_node(type(spec), _change(spec, full_path(spec, path), value)))
    except InputError as error:
        for mistake in error.each():
            mistake.file, mistake.line, mistake.excerpt = f"--set {change}", 0, ""  # there is no file to quote
        raise


def _change(spec: ModelSpec, path: Path, value: str) -> Any:
    """The fields that a change gives; of a list with one item changed, the whole list."""
    data: Any = read(f"value: {value}".encode(), "").data["value"]
    indices = [depth for depth, key in enumerate(path) if isinstance(key, int)]
    if indices:
        above, inside = path[: indices[0]], path[indices[0] :]
        path, data = above, put(at(as_data(spec), above), inside, data)
    return _with_needed(put({}, path, data), type(spec), as_data(spec))


def _with_needed(data: dict[str, Any], node: type[Node], before: Any) -> dict[str, Any]:
    """With the fields that a node cannot be without, as they are."""
    written = before if isinstance(before, dict) else {}
    needed = {name for name, info in node.model_fields.items() if info.is_required()} & written.keys()
    inner = {key: (node_at(node, (key,)), value) for key, value in data.items() if isinstance(value, dict)}
    changed = {key: _with_needed(value, below, written.get(key)) for key, (below, value) in inner.items() if below}
    return {**{name: written[name] for name in needed}, **data, **changed}


def blame(error: InputError, spec: ModelSpec, changes: tuple[str, ...]) -> None:
    """Report an error at the --set that caused it, not at the line that it changed."""
    for mistake in error.each():
        made = [change for change in changes if _is_at_fault(_path(spec, change), mistake.fields)]
        if made and not mistake.file:
            mistake.file, mistake.field = f"--set {made[-1]}", ""


def _path(spec: ModelSpec, change: str) -> Path:
    """Nothing where an earlier change made the list that this one counts in."""
    try:
        return full_path(spec, change.partition("=")[0])
    except InputError:
        return ()


def _is_at_fault(path: Path, fields: tuple[Path, ...]) -> bool:
    """A change of the field itself, of the list that it stands in, or of an item of a list around it."""
    inside = [field for field in fields if path and field[: len(path)] == path]
    return (
        any(isinstance(key, int) for field in inside for key in field[len(path) - 1 : len(path) + 1]) or path in inside
    )


def is_field(spec: ModelSpec, path: str) -> bool:
    """Whether a change of that path changes anything the spec has a name for."""
    return full_path(spec, path)[0] in type(spec).model_fields


# The path of a `--set`: `decoder.ffn.width`, `layers[9].linear`, `layers[-1].repeat`, `image` for `embedding.image`.
# Items of a list are counted from 0, or with a minus from its end.


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
