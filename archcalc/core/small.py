"""Smaller twins of a resolved spec, which can be run: sizes that follow from others say so where they are declared.

`archcalc.verify.small` cuts every size by itself; a class whose sizes hang together then mends them.
"""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable

TWICE = 2


@runtime_checkable
class Small(Protocol):
    """A class with sizes that follow from each other."""

    def made_small(self, original: Self) -> Self:
        """The same in small, its sizes equal or unequal to each other where those of the original are."""
        ...


def like(size: int, other: int, original: int, original_other: int) -> int:
    """A size that equals another one exactly where it did in the original."""
    if original == original_other:
        return other
    return size if size != other else size + TWICE
