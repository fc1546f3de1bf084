"""A spec as the YAML a person would write: short mappings on one line, a scalar where one field says it all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from archcalc.spec import Node

LINE = 100  # a mapping that is longer than this is written out below its name


def to_yaml(spec: Node, order: Iterable[str] = ()) -> str:
    """The fields that were said, those of `order` first, as they stood in the file they came from."""
    said = _plain(spec)
    keys = [*(key for key in order if key in said), *(key for key in said if key not in set(order))]
    return "".join(_field(key, said[key]) for key in keys)


def _plain(value: Any) -> Any:
    if isinstance(value, Node):
        said = {
            name: _plain(getattr(value, name))
            for name in type(value).model_fields
            if name in value.model_fields_set and getattr(value, name) is not None
        }
        return said[value.main] if list(said) == [value.main] else said
    if isinstance(value, tuple | list):
        items = [_plain(item) for item in value]
        return items[0] if len(items) == 1 and isinstance(value[0], Node) else items
    return {key: _plain(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def _field(key: str, value: Any) -> str:
    import yaml

    flow = yaml.safe_dump({key: value}, default_flow_style=True, width=10**6, allow_unicode=True, sort_keys=False)
    short = flow.strip().removeprefix("{").removesuffix("}")
    if len(short) <= LINE or not isinstance(value, dict):
        return f"{short}\n"
    inner = "".join(_field(name, item) for name, item in value.items())
    return f"{key}:\n" + "".join(f"  {line}\n" for line in inner.splitlines())
