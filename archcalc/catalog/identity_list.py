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
from archcalc.report.base import SCHEMA_VERSION, Column, Line, Report, Table


@dataclass(frozen=True)
class IdentityListReport(Report):
    """Names under their sections."""

    command: ClassVar[str] = "identities"
    names: tuple[str, ...]
    explain: bool = False

    def answer(self) -> str:
        return counted(len(self.names), "identity", "identities")

    def table(self) -> Table:
        lines = []
        for heading, names in groupby(self.names, key=section):
            lines.append(Line((heading, ""), 0, heading=True))
            lines += [self._line(name) for name in names]
        return Table((Column("name", "name"), Column("what it is about", "text")), tuple(lines))

    def _line(self, name: str) -> Line:
        return Line((name, about(name).title), 1, notes=derivation(about(name)) if self.explain else ())

    def record(self) -> dict[str, Any]:
        return {"schema_version": SCHEMA_VERSION, "assumptions": [], "rows": [_row(name) for name in self.names]}

    def flat(self) -> list[dict[str, Any]]:
        lists = ("derivation", "sources", "words")
        return [row | {key: "; ".join(row[key]) for key in lists} for row in self.record()["rows"]]


def _row(name: str) -> dict[str, Any]:
    known = about(name)
    texts = {"title": known.title, "derivation": list(known.steps), "sources": list(known.sources)}
    return {"identity": name, "section": section(name), **texts, "words": list(known.words)}


def identity_list(typed: Iterable[str] = (), *, explain: bool = False) -> IdentityListReport:
    """Those of these names or about these words, or all."""
    wanted = tuple(chosen(tuple(typed)))
    return IdentityListReport(model="identities", assumptions=(), names=wanted, explain=explain)
