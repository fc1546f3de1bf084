"""The interface of a resolved spec, with all its values filled in, common to all families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol

from archcalc.spec.node import Node

if TYPE_CHECKING:
    from archcalc.spec.workload import Longest


class Resolved(Protocol):
    """All else of it is for its own family's `build`."""

    @property
    def kind(self) -> str: ...  # which kind of its family, such as encoder-decoder; empty where there is one kind
    @property
    def lengths(self) -> Mapping[str, Longest]: ...  # that a user chooses, what is decoded last


def every_part(value: Any) -> Iterator[Any]:
    """All that a resolved spec is made of: stacks, parts, layers, norms, positions."""
    if is_dataclass(value) and not isinstance(value, type):
        yield value
        inner = [getattr(value, field.name) for field in fields(value)]
    elif isinstance(value, Node):
        yield value
        inner = [getattr(value, name) for name in type(value).model_fields]
    elif isinstance(value, dict):
        inner = list(value.values())
    else:
        inner = list(value) if isinstance(value, tuple | list) else []
    for one in inner:
        yield from every_part(one)
