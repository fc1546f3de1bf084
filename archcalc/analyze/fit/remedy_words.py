"""What makes a model fit, in words, as a table and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from archcalc.report.table import Column
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.fit.rows import Row
    from archcalc.analyze.fit.search import Remedy

WHOLE, PART = "to make it fit", "to make the counted part fit"


def title(rows: Sequence[Row]) -> str:
    """Of a part of a model, nothing is known to make the whole fit."""
    return PART if any(row.room.missing for row in rows) else WHOLE


def ways(row: Row, remedies: Sequence[Remedy]) -> Iterator[str]:
    """Combinations of changes, each in one piece, as a user types it."""
    combined = [one for one in remedies if one.changes > 1]
    if not remedies:
        yield "no change makes it fit, nor do all together"
    if combined:
        yield f"{title([row])}:"
    for one in combined:
        host = f" and {binary_bytes(one.host)} of host RAM" if one.host else ""
        on = f" on {one.gpus} × {row.gpu}" if one.gpus > row.devices else ""
        yield f"  {binary_bytes(one.required)}{host}{on}: {one.change.option}"


def columns(rows: Sequence[Row], remedies: Sequence[Remedy]) -> tuple[Column[Remedy], ...]:
    """With the smallest device that each is enough for where several were asked about."""
    offloads, several = any(one.host for one in remedies), len(rows) > 1
    return (
        Column("change", get="change.name"),
        Column("option", title(rows), "name", "change.option"),
        Column("price", get="change.price"),
        Column("keeps_request", get=lambda one: not one.change.cuts),
        Column("required_bytes", "needed", "binary", "required"),
        Column("host_bytes", get="host"),
        Column("", "host RAM", "binary", lambda one: one.host or None, shown=offloads),
        Column("gpus"),
        Column("enough_for", get=lambda one: enough_for(rows, one)),
        Column("", "fits from", "text", lambda one: enough_for(rows, one)[0], shown=several),
        Column("", "trade-off", "text", "change.price"),
    )


def enough_for(rows: Sequence[Row], remedy: Remedy) -> list[str]:
    """The devices on which it makes the model fit, the smallest first."""
    enough = [row for row in rows if remedy.is_enough_for(row.room)]
    return [row.gpu for row in sorted(enough, key=lambda row: row.room.capacity)]
