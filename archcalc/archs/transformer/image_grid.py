"""Relative positions on the grid of an image's patches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.core.errors import InputError, Path
from archcalc.layers.patches import Patches, both_sides, times

if TYPE_CHECKING:
    from archcalc.archs.transformer.nodes import Position


def on_grid(position: Position, cut: Patches | None, places: list[Path]) -> Position:
    """Relative positions without buckets tell the rows and columns of all patches apart."""
    if position.kind != "relative" or (position.buckets and not position.grid):
        return position
    if position.buckets:
        raise InputError("buckets of distances and a grid exclude each other", "keep one of them", fields=places)
    places = [*((*place, "grid") for place in places), *places]
    if cut is None and position.grid:
        fact, hint = "a grid is of an image's patches, and this stack has none", "give buckets, such as `buckets: 32`"
        raise InputError(fact, hint, fields=places)
    if cut and position.grid and both_sides(position.grid) != cut.grid:
        fact = f"a table for {times(*both_sides(position.grid))} patches, but the image has {times(*cut.grid)}"
        hint = "leave grid out: attention looks at all patches of the image, not at windows of them"
        raise InputError(fact, hint, fields=places)
    return position.model_copy(update={"grid": cut.grid}) if cut else position
