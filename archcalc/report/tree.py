"""Rows of a tree for display, without redundant ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar


class Placed(Protocol):
    """A row with its path in the tree and its number of copies."""

    @property
    def path(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def times(self) -> int: ...


R = TypeVar("R", bound=Placed)


def outline(rows: Sequence[R], are_equal: Callable[[R, R], bool]) -> Iterator[tuple[R, int]]:
    """Each row but the first, with its depth; a row that is its parent's only content is replaced by its children."""
    left_out: list[str] = []
    for above, row in pairwise(rows):
        depth = row.depth - sum(row.path.startswith(path) for path in left_out)
        if row.path.startswith(f"{above.path}.") and row.times == 1 and are_equal(above, row):
            left_out.append(f"{row.path}.")
        else:
            yield row, depth
