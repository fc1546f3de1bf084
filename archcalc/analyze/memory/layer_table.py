"""The columns of a memory report that has a line for each layer.

In training what a layer saves, in inference its cache, and where nothing is cached what it gives out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from archcalc.analyze.memory.rows import OF_LAYERS, Row
from archcalc.report.table import Column, keys


def kind_of(rows: Sequence[Row], *, trains: bool) -> str:
    """Which columns there are; of a list of tensors it is not known what they compute."""
    if trains:
        return "train"
    makes = any(row.outputs for row in rows) and not any(row.cache for row in rows)
    return "outputs" if makes else "cache"


def layer_columns(kind: str, whole: int) -> tuple[Column[Row], ...]:
    """`whole` is what the layers of a table of this kind are shares of."""
    saves, made = kind == "train", kind == "outputs"
    return (
        *keys("path", "kind", "repeat", "bytes"),
        *(Column(part, get=partial(_bytes_of, part)) for part in OF_LAYERS),
        *keys("outputs", "output_bytes", "parameters"),
        Column("", "layer", "name", "title"),
        Column("", "×", "times", "times"),
        Column("", "bytes", "count", "bytes", shown=kind == "cache"),
        Column("", "", "bytes", "bytes", shown=kind == "cache"),
        Column("", "bytes", "bytes", "bytes", shown=saves),
        Column("", "saved", "bytes", "saved", shown=saves),
        Column("", "outputs", "count", "outputs", shown=saves or made),
        Column("", "", "bytes", "output_bytes", shown=made),
        Column("", "parameters", "count", "parameters", shown=made),
        Column("", "weights", "bytes", "weights", spare=True),
        Column("", "states", "bytes", "states", shown=saves, spare=True),
        Column("", "cache", "bytes", "cache", shown=kind == "cache", spare=True),
        Column("", "share", "share", "bytes", whole=whole, shown=not made),
        Column("", "share", "share", "outputs", whole=whole, shown=made),
    )


def _bytes_of(part: str, row: Row) -> int:
    return row.parts[part]
