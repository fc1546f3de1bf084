"""What is alive at the peak, as a table that adds up to it: the largest tensors, the rest, what is there throughout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.analyze.memory.timeline import Alive, Timeline
from archcalc.core.words import counted
from archcalc.report.table import Column, Line, Table

LARGEST = 10


def alive_table(line: Timeline, names: Mapping[str, str]) -> Table:
    """`names` are those of parts. Birth and death are places of ops among all of the step."""
    alive = line.alive(line.peak)
    lines = [_line(one, number) for one, number in alive[:LARGEST]]
    rest = alive[LARGEST:]
    if rest:
        size = sum(number * one.bytes for one, number in rest)
        lines.append(_plain(counted(len(rest), "smaller tensor"), size))
    lines += [_plain(names[part], size) for part, size in line.start.items() if size]
    columns: tuple[Column[Any], ...] = (
        Column("", f"alive at op {line.peak + 1:,} of {len(line.ops):,}", "path"),
        Column("", "shape", "shape"),
        Column("", "dtype", "name"),
        Column("", "", "times"),
        Column("", "memory", "bytes"),
        Column("", "born", "count"),
        Column("", "dies", "count"),
    )
    return Table(columns, tuple(lines))


def _line(one: Alive, number: int) -> Line:
    dies = "end" if one.dies is None else one.dies + 1
    return Line((one.name, one.shape, one.dtype, number, number * one.bytes, one.born + 1, dies))


def _plain(name: str, size: int) -> Line:
    return Line((name, (), "", 1, size, "", ""))
