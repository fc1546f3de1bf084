"""The columns of a memory report that has a line for each layer.

In training what a layer saves, in inference its cache, and where nothing is cached what it gives out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from archcalc.analyze.memory.rows import OF_LAYERS, Row
from archcalc.report.table import Column, keys

STATES = ("master", "gradients", "optimizer")


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
        Column("", "layer", "name", lambda row: row.title),
        Column("", "×", "times", lambda row: row.times),
        Column("", "bytes", "count", lambda row: row.bytes, shown=kind == "cache"),
        Column("", "", "bytes", lambda row: row.bytes, shown=kind == "cache"),
        Column("", "bytes", "bytes", lambda row: row.bytes, shown=saves),
        Column("", "saved", "bytes", lambda row: row.parts["activations"] + row.parts["logits"], shown=saves),
        Column("", "outputs", "count", lambda row: row.outputs, shown=saves or made),
        Column("", "", "bytes", lambda row: row.output_bytes, shown=made),
        Column("", "parameters", "count", lambda row: row.parameters, shown=made),
        Column("", "weights", "bytes", lambda row: row.parts["weights"], spare=True),
        Column("", "states", "bytes", lambda row: sum(row.parts[one] for one in STATES), shown=saves, spare=True),
        Column("", "cache", "bytes", lambda row: row.cache, shown=kind == "cache", spare=True),
        Column("", "share", "share", lambda row: (row.outputs if made else row.bytes) / max(whole, 1)),
    )


def _bytes_of(part: str, row: Row) -> int:
    return row.parts[part]
