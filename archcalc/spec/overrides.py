"""Changes to a loaded spec: `--set path=value`."""

from __future__ import annotations

from typing import Any

from archcalc.core.errors import InputError, Path
from archcalc.spec.fields import node_at
from archcalc.spec.node import ModelSpec, Node, merged
from archcalc.spec.reading import read_node
from archcalc.spec.set_paths import as_data, at, full_path, put
from archcalc.spec.yaml_reader import read


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
