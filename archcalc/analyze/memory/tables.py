"""The tables of a memory report: bytes by part, and a line for each layer.

A layer's line has in training what it saves, in inference its cache, and where nothing is cached what it gives out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from archcalc.analyze.memory.rows import OF_LAYERS, Row
from archcalc.report.table import Column, Line, Table, keys


def size_columns(title: str, share: str = "share") -> tuple[Column[Any], ...]:
    names = ((title, "name"), ("bytes", "count"), ("", "bytes"), (share, "share"))
    return tuple(Column("", label, unit) for label, unit in names)


def part_table(title: str, parts: Mapping[str, int], whole: int) -> Table:
    """A line for each part that there is of the whole: to the last byte, rounded, and as a share."""
    lines = (Line((name, size, size, size / max(whole, 1))) for name, size in parts.items() if size)
    return Table(size_columns(title), tuple(lines))


def kind_of(rows: Sequence[Row], *, trains: bool) -> str:
    """Which columns the layers have; of a list of tensors it is not known what they compute."""
    if trains:
        return "train"
    is_cached = any(row.parts["kv_cache"] or row.parts["state"] for row in rows)
    return "outputs" if any(row.outputs for row in rows) and not is_cached else "cache"


def layer_columns(kind: str, whole: int) -> tuple[Column[Row], ...]:
    """`whole` is what the layers of a table of this kind are shares of."""
    saves, made = kind == "train", kind == "outputs"
    states = partial(_bytes_of, ["master", "gradients", "optimizer"])
    return (
        *keys("path", "kind", "repeat", "bytes"),
        *(Column(part, get=partial(_bytes_of, [part])) for part in OF_LAYERS),
        *keys("outputs", "output_bytes", "parameters"),
        Column("", "layer", "name", "title"),
        Column("", "×", "times", "times"),
        Column("", "bytes", "count", "bytes", shown=kind == "cache"),
        Column("", "", "bytes", "bytes", shown=kind == "cache"),
        Column("", "bytes", "bytes", "bytes", shown=saves),
        Column("", "saved", "bytes", partial(_bytes_of, ["activations", "logits"]), shown=saves),
        Column("", "outputs", "count", "outputs", shown=saves or made),
        Column("", "", "bytes", "output_bytes", shown=made),
        Column("", "parameters", "count", "parameters", shown=made),
        Column("", "weights", "bytes", partial(_bytes_of, ["weights"]), spare=True),
        Column("", "states", "bytes", states, shown=saves, spare=True),
        Column("", "cache", "bytes", partial(_bytes_of, ["kv_cache", "state"]), shown=kind == "cache", spare=True),
        Column("", "share", "share", "bytes", whole=whole, shown=not made),
        Column("", "share", "share", "outputs", whole=whole, shown=made),
    )


def _bytes_of(parts: Sequence[str], row: Row) -> int:
    return sum(row.parts[part] for part in parts)
