"""What can be named instead of a file: every preset with its family, its parameters and its source."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from archcalc.catalog.families import belongs, facts_of, known
from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError, close_guess
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
            Column("family", "family", "text"),
            Column("parameters", "parameters", "count"),
            Column("", "of", "text", "scope", shown=any(row.scope for row in self.rows)),
            Column("source", "source", "text"),
            Column("scope"),
        )

    def facts(self) -> dict[str, Any]:
        return {}


@partial(checked, family=text, min_params=number, max_params=number)
def presets(family: str = "", min_params: int = 0, max_params: int | None = None) -> PresetsReport:
    """One line each; a file that cannot be read is listed with its mistake, not hidden."""
    every = (_row(name, file) for name, file in sorted(paths.presets().items()))
    rows = tuple(row for row, facts in every if _fits(row, min_params, max_params) and belongs(family, facts))
    if not rows:
        hint = close_guess(family, known()) or f"words such as {', '.join(known())} are known"
        more = "`archcalc presets` lists all, with their families"
        raise InputError(f"no preset is {_asked(family, min_params, max_params)}", hint, more=more)
    exact, partial = WHOLE.exact("count"), [row.name for row in rows if row.scope]
    if partial:
        text = f"exact for what is counted, which is only a part of {', '.join(partial)}"
        exact = Assumption(Topic.EXACTNESS, text)
    assumptions = (exact, *all_on(Topic.SOURCE, paths.faults()))
    return PresetsReport(model="presets", assumptions=assumptions, rows=rows)


def _fits(row: Row, min_params: int, max_params: int | None) -> bool:
    """What cannot be read is not hidden by a bound."""
    if row.parameters is None:
        return True
    return min_params <= row.parameters and (max_params is None or row.parameters <= max_params)


def _asked(family: str, min_params: int, max_params: int | None) -> str:
    bounds = [f"of {min_params:,} parameters or more"] if min_params > 1 else []
    bounds += [f"of {max_params:,} parameters or fewer"] if max_params is not None else []
    return " ".join([*([f"'{family}'"] if family else []), " and ".join(bounds)]).strip()


def _row(name: str, file: Path) -> tuple[Row, frozenset[str]]:
    """With the facts that words for families stand for."""
    try:
        model = from_file(paths.plain(file))
        root, scope = model.build(), model.scope.name if model.scope.left_out else ""
        held = ((copies, one) for module, copies in walk(root) for one in module.params.values())
        parameters = sum(int(copies) * int(one.elements) for copies, one in held)  # without their working
        row = Row(name, model.kind, parameters, model.spec.source or "", scope)
        return row, facts_of(model, root, name)
    except InputError as error:
        row = Row(name, "", None, f"cannot be read: {error.fact.removeprefix('cannot be read: ')}")
        return row, frozenset()
