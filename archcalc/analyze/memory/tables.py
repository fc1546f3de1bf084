"""The tables of a memory report: bytes by part, and which columns the layers have.

A layer's line has in training what it saves, in inference its cache, and where nothing is cached what it gives out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from archcalc.analyze.memory.rows import Row
from archcalc.report.table import Column, Line, Table

# Rounded, and to the last byte.
BOTH_SIZES: tuple[Column[Any], ...] = (Column("", "memory", "bytes"), Column("", "bytes", "count"))


def part_table(title: str, parts: Mapping[str, int], whole: int) -> Table:
    """A line for each part that there is of the whole: rounded, to the last byte, and as a share."""
    lines = (Line((name, size, size, size / max(whole, 1))) for name, size in parts.items() if size)
    return Table((Column("", title, "name"), *BOTH_SIZES, Column("", "share", "share")), tuple(lines))


def kind_of(rows: Sequence[Row], *, trains: bool) -> str:
    """Which columns the layers have; of a list of tensors it is not known what they compute."""
    if trains:
        return "train"
    is_cached = any(row.parts["kv_cache"] or row.parts["state"] for row in rows)
    return "outputs" if any(row.outputs for row in rows) and not is_cached else "cache"
