"""Where a layer stands while a spec is read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from archcalc.archs.network.expression import Scope
from archcalc.archs.network.shape import Shape
from archcalc.core.errors import InputError, Path

if TYPE_CHECKING:
    from archcalc.archs.network.reader import Reader


class Signal(NamedTuple):
    """An output that the spec gives a name: its shape, and where the name stands."""

    shape: Shape
    path: Path


@dataclass(frozen=True)
class Place:
    """Its path in the spec, the names of its block, the signals it may read, and how deep in blocks and lists it is."""

    path: Path
    reader: Reader  # of the layers inside
    scope: Scope = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    blocks: int = 0
    lists: int = 0
    defaults: Path = ()  # where fields may stand that its own item does not have

    def below(self, *keys: str | int) -> Place:
        defaults = (*self.defaults, *keys) if self.defaults else ()
        return replace(self, path=(*self.path, *keys), defaults=defaults)

    def wrong(self, fact: str, hint: str = "", key: str | int | None = None) -> InputError:
        keys = () if key is None else (key,)
        return InputError(fact, hint, fields=self.paths(*keys))

    def paths(self, *keys: str | int) -> list[Path]:
        """Where a field may stand, likeliest first."""
        defaults = [(*self.defaults, *keys)] if self.defaults else []
        return [(*self.path, *keys), *defaults, self.path]
