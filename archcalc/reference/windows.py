"""Attention among the patches of a window: which patches a window has, and all windows of one shape at once."""

from collections.abc import Callable
from itertools import groupby, product
from typing import Any

import torch
from torch import Tensor

from archcalc.reference import Config
from archcalc.reference.positions import grid

Window = tuple[range, range]  # its rows and its columns


def windows(patches: Config, side: list[int]) -> list[list[Window]]:
    """All windows of a grid, those of one shape together."""
    cut = [
        [range(first, min(first + step, length)) for first in range(0, length, step)]
        for length, step in zip(grid(patches), side, strict=True)
    ]
    every = sorted(product(cut[0], cut[1]), key=_smaller_ones_last)
    return [list(same) for _, same in groupby(every, key=_shape)]


def _shape(window: Window) -> tuple[int, int]:
    return len(window[0]), len(window[1])


def _smaller_ones_last(window: Window) -> tuple[int, int]:
    rows, columns = _shape(window)
    return -rows, -columns


def window_order(stack: Config, device: torch.device) -> Tensor | None:
    """The places of patches, window by window, where a stack has attention by windows."""
    side = next((part["windows"] for part in stack["parts"].values() if part.get("windows")), None)
    if not side:
        return None
    _, columns = grid(stack["patches"])
    found = [
        row * columns + column
        for same in windows(stack["patches"], side)
        for window in same
        for row, column in product(*window)
    ]
    return torch.tensor(found, device=device)


def in_windows(core: Callable[..., Tensor], part: Config, q: Tensor, k: Tensor, v: Tensor, *more: Any) -> Tensor:
    """(batch, heads, positions, width): all windows of one shape are looked at as so many sequences."""
    groups = windows(part["patches"], part["windows"])
    sizes = [[len(rows) * len(columns) for rows, columns in same] for same in groups]
    if len(sizes) == 1:
        return _joined(core(*(_apart(each, sizes[0][0]) for each in (q, k, v)), *more), q.shape[0])
    found = []
    split = (each.split([sum(one) for one in sizes], dim=2) for each in (q, k, v))
    for size, several in zip(sizes, zip(*split, strict=True), strict=True):
        copies = (each.transpose(1, 2).clone(memory_format=torch.contiguous_format) for each in several)
        looked = core(*(_apart(each.transpose(1, 2), size[0]) for each in copies), *more)
        found.append(_joined(looked, q.shape[0]).transpose(1, 2))
    return torch.cat(found, dim=1).transpose(1, 2)


def _apart(x: Tensor, size: int) -> Tensor:
    """(batch · windows, heads, positions of a window, width)."""
    return x.transpose(1, 2).unflatten(1, (-1, size)).flatten(0, 1).transpose(1, 2)


def _joined(x: Tensor, batch: int) -> Tensor:
    """And back."""
    return x.transpose(1, 2).unflatten(0, (batch, -1)).flatten(1, 2).transpose(1, 2)
