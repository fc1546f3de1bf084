"""Mistakes about the model itself: another convention, another structure. Each is a change of the spec, and the wrong
value is what the changed model really has. A change that makes no valid model of the family is no mistake of it."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

from pydantic import Field

from archcalc.core.windows import Rule, Window
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node

Data = dict[str, Any]
Place = tuple[str | int, ...]
GONE = object()  # in the place of a value: the field is taken out


class Misreading(Node):
    """A field is taken to have another value than it has; `instead_of` are the values that it is taken for."""

    name: str
    sentence: str = ""
    field: str
    value: Any = GONE
    instead_of: list[Any] = Field(default_factory=list)  # any, where none is named
    unsaid: bool = False  # also where the spec leaves it out
    each: bool = False  # also in one place alone, such as the stride of one layer
    beside: str = ""  # also where a layer has this field and leaves the other out
    like: str = ""  # the value is that of another field, and not `value`

    def changed(self, data: Data) -> Iterator[Data]:
        """The specs that somebody has in mind who makes it."""
        value = self.value
        if self.like:
            value = next((found for _, found in _places(data, _path(self.like))), GONE)
            if value is GONE:
                return
        places = self._places(data, value)
        if places:
            yield _with(data, places, value)
        if self.each and len(places) > 1:
            yield from (_with(data, [place], value) for place in places)

    def _places(self, data: Data, value: Any) -> list[Place]:
        path = _path(self.field)
        found = dict(_places(data, path))
        taken_for = self.instead_of or list(found.values())
        places = [place for place, said in found.items() if said != value and said in taken_for]
        if self.beside:
            layers = [place[:-1] for place, _ in _places(data, _path(self.beside))]
            places += [(*layer, *path) for layer in layers if (*layer, *path) not in found]
        if self.unsaid and path not in found:
            places.append(path)
        return places


def _path(field: str) -> Place:
    return tuple(field.split("."))


def _places(value: Any, field: Place, path: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every place where a field is written, at the top or within others, and what it has there."""
    items = value if isinstance(value, list) else ()
    held = value.items() if isinstance(value, dict) else enumerate(items)
    for name, inner in held:
        if (*path, name)[-len(field) :] == field:
            yield (*path, name), inner
        yield from _places(inner, field, (*path, name))


def _with(data: Data, places: list[Place], value: Any) -> Data:
    """A copy with a field changed, or taken out, in these places; a value in short form, `ffn: 512`, has no fields."""
    copy = deepcopy(data)
    for *above, name in places:
        holder: Any = copy
        for key in above:
            if isinstance(holder, dict):
                holder.setdefault(key, {})
            holder = holder[key]
        if isinstance(holder, dict):
            holder.pop(name, None)
            if value is not GONE:
                holder[name] = value
    return copy


class Misreadings(Node):
    """Mistakes, other ways of counting, and those of specs that leave something out: presets/exercises."""

    mistakes: list[Misreading]
    conventions: list[Misreading]
    left_out: list[Misreading]


@cache
def misreadings() -> Misreadings:
    return node(paths.shipped("exercises")["misreadings"], Misreadings)


class Misremembered(NamedTuple):
    """Another formula for the size of a map behind a convolution or a pool."""

    name: str
    sentence: str
    rule: Rule


def _rounded_up(window: Window) -> int:
    return -(-(window.size + window.before + window.after - window.reach) // window.stride) + 1


_ONE = "⌊(n + 2p − k)/s⌋ + 1: the 1 for the first place is missing"
MISREMEMBERED = (
    Misremembered("size without + 1", _ONE, lambda window: window.right_places - 1),
    # a pool that halves a map is not worked out by the formula
    Misremembered("size without + 1", _ONE, lambda window: window.right_places - (window.stride < window.kernel)),
    Misremembered("size rounded up", "the division is rounded down, not up", _rounded_up),
)
