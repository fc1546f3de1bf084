"""Changes to a loaded spec: `--set path=value`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from archcalc.core.errors import InputError
from archcalc.spec.node import ModelSpec, merged
from archcalc.spec.yaml_reader import read


def changed(spec: ModelSpec, change: str) -> ModelSpec:
    """Apply `path=value`; the value is read as YAML reads it, and mappings merge as everywhere."""
    path, equals, value = change.partition("=")
    if not equals or not path.strip():
        hint = "write --set path=value, such as --set encoder.blocks=6"
        error = InputError(f"'{change}' is not of the form path=value", hint)
        error.file = "--set"  # the option is at fault, not the file that it would change
        raise error
    keys = _full_path(spec, path)
    try:
        data: Any = read(f"value: {value}".encode(), "").data["value"]
        for key in reversed(keys):
            data = {key: data}
        return merged(spec, type(spec).read(data))
    except InputError as error:
        for mistake in error.each():
            mistake.file, mistake.line, mistake.excerpt = f"--set {change}", 0, ""  # there is no file to quote
        raise


@contextmanager
def blaming(spec: ModelSpec, changes: tuple[str, ...]) -> Iterator[None]:
    """Report an error at the --set that caused it, not at the line that it changed."""
    try:
        yield
    except InputError as error:
        for mistake in error.each():
            made = [change for change in changes if tuple(_full_path(spec, change.partition("=")[0])) in mistake.fields]
            if made and not mistake.file:
                mistake.file, mistake.field = f"--set {made[-1]}", ""
        raise


def is_field(spec: ModelSpec, path: str) -> bool:
    """Whether a change of that path changes anything the spec has a name for."""
    return _full_path(spec, path)[0] in type(spec).model_fields


def _full_path(spec: ModelSpec, path: str) -> list[str]:
    """A field may go by its last name where the spec has it in one place only: `image` for `embedding.image`."""
    keys = path.strip().split(".")
    if keys[0] in type(spec).model_fields:
        return keys
    found = list(_places(spec.model_dump(exclude_unset=True), keys[0]))
    return [*found[0], *keys[1:]] if len(found) == 1 else keys


def _places(data: Any, key: str) -> Any:
    for name, value in data.items() if isinstance(data, dict) else ():
        if name == key:
            yield [name]
        yield from ([name, *rest] for rest in _places(value, key))
