"""The identities by name and title, and with their derivations: a list that needs no PyTorch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

from archcalc.catalog.identities import chosen
from archcalc.catalog.identity_words import derivation
from archcalc.core.words import counted
from archcalc.identities import about, section
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, heading, in_tables, records_of


@dataclass(frozen=True)
class IdentityListReport(Report):
    """Names under their sections."""

    command: ClassVar[str] = "identities"
    names: tuple[str, ...]
    explain: bool = False

    def answer(self) -> str:
        return counted(len(self.names), "identity", "identities")

    def columns(self) -> tuple[Column[str], ...]:
        return COLUMNS

    def table(self) -> Table:
        columns, lines = in_tables(COLUMNS), []
        for title, names in groupby(self.names, key=section):
            lines.append(heading(title, columns))
            for name in names:
                notes = derivation(about(name)) if self.explain else ()
                lines.append(Line(cells_of(columns, name), 1, notes=notes))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {}

    def records(self) -> list[dict[str, Any]]:
        return records_of(COLUMNS, self.names)

    def flat(self) -> list[dict[str, Any]]:
        return [row | {key: "; ".join(row[key]) for key in LISTS} for row in self.records()]


LISTS = ("derivation", "sources", "words")
COLUMNS: tuple[Column[str], ...] = (
    Column("identity", "name", "name", str),
    Column("section", get=section),
    Column("title", "what it is about", "text", lambda name: about(name).title),
    Column("derivation", get=lambda name: list(about(name).steps)),
    Column("sources", get=lambda name: list(about(name).sources)),
    Column("words", get=lambda name: list(about(name).words)),
)


def identity_list(typed: Iterable[str] = (), *, explain: bool = False) -> IdentityListReport:
    """Those of these names or about these words, or all."""
    wanted = tuple(chosen(tuple(typed)))
    return IdentityListReport(model="identities", assumptions=(), names=wanted, explain=explain)
