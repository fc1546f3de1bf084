"""What can be named instead of a file: every preset with its family, its parameters and its source.

Families are asked for by the words that people have for them: `presets --family cnn`, `--family "vision transformer"`.
Which facts a word stands for is data (`presets/typed/families.yaml`), and never a list of models.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from archcalc.core.assumptions import Assumption, Topic, all_on
from archcalc.core.errors import InputError, close_guess
from archcalc.core.ir import Module, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.core.words import counted
from archcalc.loading import from_file
from archcalc.model import Model
from archcalc.report.base import Report
from archcalc.report.table import Column
from archcalc.spec import paths
from archcalc.spec.data_files import shipped
from archcalc.spec.option_checks import checked, number, text
from archcalc.spec.scope import WHOLE

TYPE = "type:"
SHORTEST = 3  # letters of a part of a model type that names it: bert of distilbert
READ = {"height": "images", "frames": "audio", "seq": "text", "src_seq": "text", "tgt_seq": "text"}  # by its dims


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
    assumptions = (exact, *all_on(Topic.SCOPE, paths.faults()))
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


def facts_of(model: Model, root: Module, name: str = "") -> frozenset[str]:
    """Kind and family, cells, what is read, model type, and the words of its name."""
    entering = (dim.name for op in ops_in(root) if op.traits.enters for dim in op.output.dims)
    roles = {param.weight_role for module, _ in walk(root) for param in module.params.values()}
    words = [
        *(model.kind, *model.kind.split(), *model.kind.replace("-", " ").split()),
        *(getattr(stack, "cell", "") for stack in getattr(model.resolved, "stacks", ())),
        *(READ.get(dim, "") for dim in entering),
        "convolution" if Role.CONVOLUTION in roles and model.spec.family == "network" else "",
        model.model_type and f"{TYPE}{model.model_type}",
        *re.findall(r"[a-z]+\d*", name.lower()),
    ]
    return frozenset(word.lower() for word in words if word)


def belongs(asked: str, facts: frozenset[str]) -> bool:
    """Whether every word holds, and none is asked for that does not."""
    return all(_holds(word, facts) for word in asked.lower().split())


def known() -> tuple[str, ...]:
    """Words that stand for facts."""
    return tuple(shipped("typed", "families"))


def _holds(word: str, facts: frozenset[str]) -> bool:
    """The word itself, what it stands for, or a part of the model type."""
    alternatives = shipped("typed", "families").get(word.replace("-", ""))
    if word in facts or alternatives is None:
        types = (fact.removeprefix(TYPE) for fact in facts if fact.startswith(TYPE))
        return word in facts or (len(word) >= SHORTEST and any(word in one for one in types))
    # `!word` says that it does not hold.
    return any(all((each.lstrip("!") in facts) != each.startswith("!") for each in one.split()) for one in alternatives)
