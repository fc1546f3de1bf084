"""A spec as it was meant: without the fields that do not exist, and with those that they stand for.

It is never computed with. It shows a user what to write, and it is searched for the mistakes that are left.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

from archcalc.core.errors import Path, did_you_mean
from archcalc.spec.fields import node_at
from archcalc.spec.node import Node
from archcalc.spec.other_names import Meant, Section, meant
from archcalc.spec.yaml_writer import flow

LONGEST = 72  # characters of an example in a hint


@dataclass
class Repair:
    """`data` with its unknown fields, at the paths `unknown`, replaced by the fields that were meant."""

    spec: type[Node]
    data: dict[str, Any]
    unknown: list[Path]
    section: Section | None = None  # of the names of other libraries, for a node that is read by itself

    def __post_init__(self) -> None:
        self.found = {
            path: meant(self.spec, str(path[-1]), _at(self.data, path), path[:-1], self.section)
            for path in self.unknown
        }
        self.whole: dict[Any, Any] = copy.deepcopy(self.data)
        for path in self.unknown:
            drop(self.whole, path)
        self.given = {path for path, one in self.found.items() if one and _at(self.whole, one.path) is not None}
        for path, one in self.found.items():
            if one and one.path and path not in self.given:
                self._put(self.whole, one)

    def hint(self, path: Path) -> str:
        """What to write instead."""
        one = self.found[path]
        if one is None:
            node = node_at(self.spec, path[:-1])
            return did_you_mean(str(path[-1]), node.model_fields if node else ())
        if not one.path or one.is_guess or not _is_short(one.value):
            return one.told
        if path in self.given:
            return f"{one.told}, and the spec has it: take `{path[-1]}` out"
        return f"{one.told}: write `{self._example(one)}`"

    def _example(self, one: Meant) -> str:
        """The field with all that stands beside it, where that is short."""
        alone: dict[Any, Any] = {}
        self._put(alone, one)
        top = one.path[0]
        whole, single = (flow({top: self._short((top,), data[top])})[1:-1] for data in (self.whole, alone))
        return whole if len(whole) <= LONGEST else single

    def _put(self, data: dict[Any, Any], one: Meant) -> None:
        whole = node_at(self.spec, one.path)
        *above, last = (*one.path, whole.main) if whole and whole.main else one.path  # `decoder` is `decoder.blocks`
        inner: Any = data
        for depth, key in enumerate(above, start=1):
            node, value = node_at(self.spec, tuple(above[:depth])), inner.get(key, {})
            is_short = node and node.main and not isinstance(value, dict | list)
            inner[key] = {node.main: value} if node and is_short else value
            inner = inner[key]
            if not isinstance(inner, dict):  # a list of positions: no place to put it
                return
        for name, value in one.beside.items():
            inner.setdefault(name, value)
        inner[last] = one.value

    def _short(self, path: Path, value: Any) -> Any:
        """The reverse: fields of which one says it all, as that one."""
        if not isinstance(value, dict):
            return value
        inner = {key: self._short((*path, key), one) for key, one in value.items()}
        node = node_at(self.spec, path)
        return inner[node.main] if node and list(inner) == [node.main] else inner


def _at(data: Any, path: Path) -> Any:
    for key in path:
        if isinstance(key, int):
            data = data[key] if isinstance(data, list) else data
        else:
            data = data.get(key) if isinstance(data, dict) else None
    return data if path else None


def drop(data: Any, path: Path) -> None:
    """Take the field at a path out, or the nearest one around it that is written."""
    for end in range(len(path), 0, -1):
        holder = _at(data, path[: end - 1]) if end > 1 else data
        if isinstance(holder, dict) and holder.pop(path[end - 1], None) is not None:
            return


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return len(value) <= LONGEST // 2 and value.isprintable()
    return isinstance(value, bool | int | float)
