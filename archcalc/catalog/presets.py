"""What can be named instead of a file: every preset with its kind, its parameters, its year and its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from archcalc.catalog.kinds import facts_of, kinds, known, reads
from archcalc.catalog.wanted import Asked, years
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError
from archcalc.core.ir import walk
from archcalc.core.words import counted
from archcalc.loading import from_file
from archcalc.report.base import Report
from archcalc.report.table import Column
from archcalc.spec import paths
from archcalc.spec.option_checks import checked, number, text
from archcalc.spec.scope import WHOLE


@dataclass(frozen=True)
class Row:
    name: str
    family: str
    parameters: int | None  # None where the file is at fault
    source: str
    scope: str = ""  # which part of the model the preset describes; empty for the whole
    released: str = ""  # 2025, or 2025-04
    reads: tuple[str, ...] = ()
    hub: tuple[str, ...] = ()  # repositories with its shapes
    kinds: tuple[str, ...] = ()  # its own, or those of its parts
    facts: frozenset[str] = frozenset()  # that words for kinds stand for

    @property
    def kind(self) -> str:
        """Most are Transformers, of which their kind says enough."""
        return " + ".join(kind.removesuffix(" transformer") for kind in self.kinds)


@dataclass(frozen=True)
class PresetsReport(Report):
    command: ClassVar[str] = "presets"
    rows: tuple[Row, ...]

    def answer(self) -> str:
        return counted(len(self.rows), "preset")

    def columns(self) -> tuple[Column[Row], ...]:
        """What a count leaves out has a column where there is such a preset."""
        return (
            Column("name", "name", "name"),
            Column("family"),
            Column("", "kind", "text", "kind"),
            Column("parameters", "parameters", "count"),
            Column("", "of", "text", "scope", shown=any(row.scope for row in self.rows)),
            Column("released", "released", "text"),
            Column("reads", get=lambda row: list(row.reads)),
            Column("", "reads", "text", lambda row: ", ".join(row.reads), spare=True),
            Column("source", "source", "text", spare=True),
            Column("scope"),
            Column("hub", get=lambda row: list(row.hub)),
            Column("kinds", get=lambda row: list(row.kinds)),
        )

    def facts(self) -> dict[str, Any]:
        return {}


@partial(checked, family=text, modality=text, name=text, year=years, min_params=number, max_params=number)
def presets(
    family: str = "",
    min_params: int = 0,
    max_params: int | None = None,
    *,
    modality: str = "",
    year: int | str = "",
    name: str = "",
) -> PresetsReport:
    """One line each; a file that cannot be read is listed with its mistake, not hidden."""
    asked = Asked(family, modality, str(year), min_params, max_params, name)
    rows = tuple(row for row in (_row(name, file) for name, file in sorted(paths.presets().items())) if asked.fits(row))
    if not rows:
        hint = asked.close_guess() or f"words such as {', '.join(known())} are known"
        more = "`archcalc presets` lists all, with their kinds"
        raise InputError(f"no preset is {asked.words()}", hint, more=more)
    exact, partial = WHOLE.exact("count"), [row.name for row in rows if row.scope]
    if partial:
        text = f"exact for what is counted, which is only a part of {', '.join(partial)}"
        exact = Assumption(Topic.EXACTNESS, text)
    assumptions = (exact, *all_on(Topic.SCOPE, paths.faults()))
    return PresetsReport(model="presets", assumptions=assumptions, rows=rows)


def _row(name: str, file: Path) -> Row:
    """With the facts that words for kinds stand for."""
    try:
        model = from_file(paths.plain(file))
        root, spec = model.build(), model.spec
        scope = model.scope.name if model.scope.left_out else ""
        held = ((copies, one) for module, copies in walk(root) for one in module.params.values())
        parameters = sum(int(copies) * int(one.elements) for copies, one in held)  # without their working
        told = (spec.source or "", scope, spec.released or "", reads(model, root), spec.hub or ())
        return Row(name, model.kind, parameters, *told, kinds(model), facts_of(model, root, name))
    except InputError as error:
        return Row(name, "", None, f"cannot be read: {error.fact.removeprefix('cannot be read: ')}")
