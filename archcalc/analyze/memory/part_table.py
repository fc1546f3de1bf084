"""Tables of bytes by part: to the last byte, rounded, and as a share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.report.table import Column, Line, Table


def size_columns(title: str, share: str = "share") -> tuple[Column[Any], ...]:
    names = ((title, "name"), ("bytes", "count"), ("", "bytes"), (share, "share"))
    return tuple(Column("", label, unit) for label, unit in names)


def part_line(name: str, size: int, whole: int, depth: int = 0) -> Line:
    return Line((name, size, size, size / max(whole, 1)), depth)


def part_table(title: str, parts: Mapping[str, int], whole: int) -> Table:
    """A line for each part that there is of the whole."""
    lines = (part_line(name, size, whole) for name, size in parts.items() if size)
    return Table(size_columns(title), tuple(lines))
