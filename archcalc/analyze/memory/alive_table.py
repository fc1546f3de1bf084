"""What is alive at the peak, as a table that adds up to it: the largest tensors, the rest, what is there throughout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.analyze.memory.timeline import Alive, Timeline
from archcalc.core.words import counted
from archcalc.report.table import Column, Line, Table

LARGEST = 10
COLUMNS: tuple[Column[Any], ...] = (
    Column("", "alive at the peak", "name"),
    Column("", "shape", "shape"),
    Column("", "dtype", "name"),
    Column("", "", "times"),
    Column("", "memory", "bytes"),
    Column("", "born at", "name", spare=True),
    Column("", "dies at", "name", spare=True),
)


def alive_table(line: Timeline, names: Mapping[str, str]) -> Table:
    """`names` are those of parts. Birth and death are phases, with the op's place among all that are listed."""
    alive = line.alive(line.peak)
    lines = [_line(one, number, line) for one, number in alive[:LARGEST]]
    rest = alive[LARGEST:]
    if rest:
        size = sum(number * one.bytes for one, number in rest)
        lines.append(_plain(counted(len(rest), "smaller tensor"), size))
    lines += [_plain(f"{names[part]}, throughout", size) for part, size in line.start.items() if size]
    return Table(COLUMNS, tuple(lines))


def _line(one: Alive, number: int, line: Timeline) -> Line:
    dies = "the end" if one.dies is None else _at(one.dies, line)
    return Line((one.name, one.shape, one.dtype, number, number * one.bytes, _at(one.born, line), dies), 1)


def _plain(name: str, size: int) -> Line:
    return Line((name, (), "", 1, size, "", ""), 1)


def _at(op: int, line: Timeline) -> str:
    return f"{line.ops[op].phase} {op:,}"
