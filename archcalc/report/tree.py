"""Rows of a tree as a reader wants them: without those that say nothing new."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar


class Placed(Protocol):
    """A row that knows its place in the tree, and how often it stands there."""

    @property
    def path(self) -> str: ...
    @property
    def depth(self) -> int: ...
    @property
    def times(self) -> int: ...


R = TypeVar("R", bound=Placed)


def outline(rows: Sequence[R], size: Callable[[R], int]) -> Iterator[tuple[R, int]]:
    """Each row but the first, and how deep it stands: what a row that is all of its parent holds takes its place."""
    left_out: list[str] = []
    for above, row in pairwise(rows):
        depth = row.depth - sum(row.path.startswith(path) for path in left_out)
        if row.path.startswith(f"{above.path}.") and row.times == 1 and size(row) == size(above):
            left_out.append(f"{row.path}.")
        else:
            yield row, depth
