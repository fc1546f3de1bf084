"""Rows of a tree for display, without redundant ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar


class Placed(Protocol):
    """A row with its path in the tree and its number of copies."""

    @property
    def path(self) -> str: ...
    @property
    def times(self) -> int: ...


R = TypeVar("R", bound=Placed)


def outline(rows: Sequence[R], sizes: Sequence[int | None]) -> Iterator[tuple[R, int]]:
    """Each row but the first, with its depth; a row that is its parent's only content is replaced by its children.

    `sizes` says so: those of the rows, None for one that is never replaced.
    """
    left_out: list[str] = []
    for (above, size), (row, own) in pairwise(zip(rows, sizes, strict=True)):
        depth = row.path.count(".") - sum(row.path.startswith(path) for path in left_out)
        if own is not None and own == size and row.times == 1 and row.path.startswith(f"{above.path}."):
            left_out.append(f"{row.path}.")
        else:
            yield row, depth
