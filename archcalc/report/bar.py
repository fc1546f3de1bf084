"""A stacked bar of an answer: parts of an amount of bytes against what a device has."""

from __future__ import annotations

from typing import NamedTuple


class Bar(NamedTuple):
    """`parts` by name, in the order of the figures that have a segment."""

    parts: dict[str, int]
    limit: int
