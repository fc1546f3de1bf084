"""Attention among the patches of a window, so many rows and columns of an image's grid (Swin, Qwen2.5-VL).

Where the grid is no whole number of windows, those at its edges are smaller, so that there are up to four sizes.
Patches stand window by window, and windows of one size behind each other, so that these are computed together.
"""

from __future__ import annotations

from typing import NamedTuple

from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.attention_core import Core
from archcalc.layers.patches import Sides, times

ORDERED = "window by window"
Triple = tuple[Tensor, Tensor, Tensor]  # queries, keys, values: (batch, heads, positions, width) each


class Windows(NamedTuple):
    """Several of one size."""

    number: int
    places: int


def windows_on(grid: Sides, side: Sides) -> tuple[Windows, ...]:
    """Those that a grid is divided into, by their sizes."""
    rows, columns = (_along(*both) for both in zip(grid, side, strict=True))
    return tuple(Windows(row.number * column.number, row.places * column.places) for row in rows for column in columns)


def _along(length: int, side: int) -> list[Windows]:
    """Whole ones along one side of the grid, and a smaller one that is left."""
    whole, rest = divmod(length, side)
    return [Windows(number, places) for number, places in ((whole, side), (1, rest)) if number and places]


def described(side: Sides) -> str:
    return f"in windows of {times(*side)} patches"


def by_windows(m: Module, x: Tensor) -> Tensor:
    """Patches in the order of the windows."""
    _, seq, _ = x.dims
    return m.record("gather", x, Tensor(axes(seq), "index"), note=ORDERED)


def in_windows(core: Core, tensors: Triple, windows: tuple[Windows, ...]) -> Tensor:
    """(batch, heads, positions, width): the windows of every size by themselves, then all behind each other."""
    (query, _, value), (one, *others) = tensors, windows
    batch, head, seq, _ = query.dims
    each = value.dims[3]
    if not others:
        found = core.run(*(tensor.seen_as(*_of_windows(tensor, one)) for tensor in tensors))
        return found.seen_as(batch, head, seq, each)
    parts = [_of_one_size(core, tensors, same, f"_{place}") for place, same in enumerate(windows, start=1)]
    joined = core.m.record("concat", *parts, to=axes(batch, seq, head, each))
    return joined.seen_as(batch, head, seq, each)


def _of_one_size(core: Core, tensors: Triple, same: Windows, mark: str) -> Tensor:
    """A part of the positions, copied out of all."""
    copies = []
    for tensor in tensors:
        windows, head, places, width = _of_windows(tensor, same, mark)
        copied = core.m.record("copy", tensor, to=axes(windows, places, head, width), note=f"{same.places} each")
        copies.append(copied.seen_as(windows, head, places, width))
    found = core.run(*copies)
    _, head, _, each = found.dims
    length = Dim.of(f"positions{mark}", same.number * same.places)
    return found.seen_as(tensors[0].dims[0], length, head, each)


def _of_windows(tensor: Tensor, same: Windows, mark: str = "") -> tuple[Dim, Dim, Dim, Dim]:
    """Windows of all images in the place of the batch, and their own positions."""
    batch, head, positions, width = tensor.dims
    windows = Dim(f"windows{mark}", Count.named("windows", same.number) * batch.size)
    return windows, head, Dim.of(f"{positions.name}_of_window{mark}", same.places), width
