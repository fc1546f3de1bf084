"""What layers of the family transformer are told of a network that they stand in: the width of its sequence, the
earlier layer that cross-attention looks at; and where in it a mistake stands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod
from typing import Annotated, Any

from archcalc.archs.network.layer import Place, Shape, Trace
from archcalc.archs.network.names import INPUT
from archcalc.archs.network.values import Words
from archcalc.archs.transformer.context import Context
from archcalc.archs.transformer.parts.part import Surroundings
from archcalc.archs.transformer.positions import KINDS
from archcalc.archs.transformer.spec import Stack
from archcalc.core.errors import InputError, did_you_mean, together
from archcalc.core.ir import Axis, Dim, Module, Tensor, axes
from archcalc.layers.attention import looked_at
from archcalc.layers.attention_mask import Sight
from archcalc.layers.patches import Patches, both_sides, times
from archcalc.spec.gathering import gathering
from archcalc.spec.node import field as spec_field
from archcalc.spec.node import shown

LAYER = "transformer"  # in the place of the name of a stack
Memory = Annotated[str | None, Words()]


def memory_field() -> Any:
    """The same for every layer that has it."""
    about = "The earlier layer that cross-attention looks at, by its name, or `input`; without it there is none."
    return spec_field(None, about, example="input")


def memory_width(said: str | None, shape: Shape, place: Place) -> int | None:
    """Features of each position of the memory, which is a sequence."""
    if said is None:
        return None
    if said != INPUT and said not in place.signals:
        raise place.wrong(
            f"no earlier layer called {shown(said)}", did_you_mean(said, (INPUT, *place.signals)), "memory"
        )
    found = shape if said == INPUT else place.named(said).shape
    if not found.is_sequence:
        raise place.wrong(f"{said} is no sequence but {found}", "attention looks at positions", "memory")
    return found.channels


def need_sequence(word: str, shape: Shape, place: Place) -> None:
    if not shape.is_sequence:
        fact = f"{word} reads a sequence, and a {'map' if shape.sides else 'vector'} of {shape} comes in"
        raise place.wrong(fact, "put `sequence` before it, for the places of a map as positions", word)


def around(scope: Stack, shape: Shape, grid: Patches | None, *, has_memory: bool, causal: bool) -> Surroundings:
    """What parts inherit where they stand in a list of layers."""
    return Surroundings(scope, LAYER, shape.channels, scope.norm, has_memory, causal, grid)


def grid_of(positions: tuple[Any, ...], shape: Shape, place: Place) -> Patches | None:
    """The rows and columns that relative positions tell apart: those of an image whose patches are single places."""
    added = next((one.kind for one in positions if one.kind != "none" and KINDS[one.kind].on_embedding), "")
    if added:
        hint = "a layer before it adds positions to a sequence: `{position: learned}`"
        raise place.wrong(f"{added} positions do not act in attention", hint, "position")
    said = next((one.grid for one in positions if one.grid), None)
    if said is None:
        return None
    sides = both_sides(said)
    if prod(sides) != shape.sides[0]:
        fact = f"a grid of {times(*sides)}, but {shape.sides[0]:,} positions"
        raise place.wrong(fact, "give its rows and columns", "position")
    return Patches(sides, (1, 1), shape.channels, tokens=0, registers=0, mask=False, bias=False)


@contextmanager
def told_at(place: Place) -> Iterator[None]:
    """Mistakes that the family transformer finds, at the layer that they stand in."""
    try:
        with gathering():
            yield
    except InputError as error:
        raise together([_moved(one, place) for one in error.each()]) from None


def _moved(error: InputError, place: Place) -> InputError:
    paths = [path for path in error.fields if path[:1] != (LAYER,)]
    fields = [found for path in paths for found in place.paths(*path)] or [place.path]
    missing = {"fact": f"{error.field.rpartition('.')[2]} is missing"} if error.is_missing else {}
    return InputError(missing.get("fact", error.fact), error.hint, more=error.more, fields=fields)


@dataclass(frozen=True)
class OfLayer(Context):
    """Of one layer, which makes its constants anew each time it runs. In windows that are moved round the ends of a map
    attention does not look across an end."""

    layer: Module = field(kw_only=True)
    is_shifted: bool = field(kw_only=True)

    def constant(self, name: str, role: str, *items: Dim | Axis) -> Tensor:
        """Made before all that reads it."""
        shape = axes(*items)
        if (name, shape) not in self.shared:
            self.shared[name, shape] = self.layer.record("constant", to=shape, role=role)
            self.layer.body.insert(0, self.layer.body.pop())
        return self.shared[name, shape]

    def mask(self, x: Tensor, sight: Sight) -> Tensor | None:
        if not self.is_shifted:
            return super().mask(x, sight)
        return self.constant("mask of shifted windows", "mask", x.dims[0], x.dims[1], looked_at(x, x, sight=sight))


def context_of(m: Module, x: Tensor, trace: Trace, memory: str | None) -> Context:
    """With the tensor that cross-attention looks at."""
    looked = None if memory is None else trace.in_order(m, trace.signals.get(memory, x))
    return OfLayer(trace.work.of_encoder(), looked, layer=m, is_shifted=trace.in_shifted_windows)
