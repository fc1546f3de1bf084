"""Libraries that people train with, read from presets/code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.code.code_file import EARLIER, CodeFile, Rule
from archcalc.run.code.habits import NAMES, Habits
from archcalc.run.code.model_types import CODE, NOTHING_SAID, Facts, described, facts, task_of
from archcalc.spec import paths
from archcalc.spec.data_files import document
from archcalc.spec.reading import read_node
from archcalc.styles.ways import WAYS, way

PLAIN, TRANSFORMERS = "plain", "transformers"
LIKE = "like"  # another library, whose layers it trains
RULES = ("assumed", "unmeasured", "refused", "recipes")  # lists of rules in a file
DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")


@dataclass(frozen=True)
class Code:
    """One implementation of a model's layers: a library, of a month, for a family."""

    name: str
    about: str
    habits: Habits
    layers: tuple[tuple[str, str], ...] = ()  # the names of its forward functions (`archcalc.styles.ways`)
    source: str = ""
    version: str = ""
    facts: Facts = NOTHING_SAID
    numbers: tuple[tuple[str, int], ...] = ()  # sizes that it has chosen, by name
    assumed: tuple[Rule, ...] = ()  # what is said under a report
    unmeasured: tuple[Rule, ...] = ()  # what rests on its source alone
    refused: tuple[Rule, ...] = ()  # what it does not have
    recipes: tuple[Rule, ...] = ()  # what it runs where a question leaves an option open
    precisions: tuple[tuple[str, tuple[Rule, ...]], ...] = ()  # what the words of --precision mean by it
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()  # habits that people choose by its flags, and what from
    architectures: tuple[str, ...] = ()  # the families of architectures that it has; empty: any
    measured_kinds: tuple[str, ...] = ()  # kinds of op in the runs that it was compared with; empty: no such list
    release: str = ""  # of the library, as it was read
    changed: tuple[str, ...] = ()  # days on which it changed, the first one first

    def number(self, name: str) -> int:
        found = dict(self.numbers)
        if name not in found:
            raise InputError(f"the file of {self.name} has a habit that needs the number {name}", field="--code")
        return found[name]

    def ends_of_years(self) -> list[str]:
        """Of the years in which it changed or was there before: `2024-12`."""
        return [f"{year}-12" for year in dict.fromkeys(int(day[:4]) - 1 for day in self.changed)]

    def with_habits(self, choices: tuple[str, ...]) -> Code:
        """The same with other choices that the library leaves, written as `loss=fp32`."""
        known = [f"{habit}={choice}" for habit, choices in self.choices for choice in choices]
        layers, habits = dict(self.layers), dict[str, Any]()
        for written in choices:
            if not known:
                raise InputError(f"{self.name} code leaves no choice", "leave --habit out", field="--habit")
            if written not in known:
                fact = f"{self.name} code has no choice {written}"
                raise InputError(fact, did_you_mean(written, known), field="--habit")
            name, _, choice = written.partition("=")
            layers |= {name: choice} if name in WAYS else {}
            habits |= {name: choice} if name in NAMES else {}
        return replace(self, habits=replace(self.habits, **habits), layers=tuple(layers.items()))

    @property
    def overwrites_logits(self) -> bool:
        return dict(self.layers).get("loss") in ("in_place", "in_place_fp32")

    def model_casts_logits(self, loss_chunks: int) -> bool:
        """Whether the model returns fp32 logits: not as a list of chunks."""
        return ("loss", "model_fp32") in self.layers and (loss_chunks == 1 or self.habits.loss_chunks != "list")

    @property
    def words(self) -> str:
        """`transformers 5.22`, `torchtitan of 2024-12`."""
        if self.name == PLAIN:
            return "plain PyTorch"
        return f"{self.name} of {self.version}" if self.version else f"{self.name} {self.release}".strip()


OWN = Code(PLAIN, "its own modules, as its documentation uses them", Habits())  # of a run that trains nothing


def code(written: str | None, model_type: str = "", config: Mapping[str, Any] | None = None) -> Code:
    """A library by its name, perhaps of a month: `torchtitan@2024-12`. Without a name it is transformers for a model
    that it has, else PyTorch's own modules. `model_type` is a family of transformers, `config` its config.json."""
    about = described(model_type)
    name, _, version = (written or (TRANSFORMERS if about else PLAIN)).lower().partition("@")
    data, day = _library(name), ""
    like = data.get(LIKE, name)
    if like == TRANSFORMERS and not about:
        fact = "the spec names no family of transformers, such as `transformers: llama`"
        fact = f"archcalc does not know how transformers computes {model_type}" if model_type else fact
        raise InputError(fact, "leave --code out, or name another", field="--code")
    if version:
        day = _day(name, version, data)
    of_type = about.get(CODE, {}).get(like, {})
    said = {**data.get("layers", {}), **data.get("habits", {}), **_before(data, day)}
    if like == TRANSFORMERS:  # whether a class calls a kernel for attention, and how it computes its loss
        said |= {"attention": about["attention"], **data.get("tasks", {}).get(task_of(about, config), {})}
    said |= {key: choice for key, choice in of_type.items() if key != EARLIER} | _before(of_type, day)
    known = facts(about, config) if like == TRANSFORMERS else NOTHING_SAID
    known = replace(known, activation=said.pop("activation", known.activation))
    habits = Habits.of({key: said.pop(key) for key in NAMES & said.keys()}, f"code {name}")
    for layer, choice in said.items():
        way(layer, choice, f"code {name}")
    changed = tuple(sorted(str(one["before"]) for part in (data, of_type) for one in part.get(EARLIER, ())))
    made = _of_file(name, data)
    return replace(made, habits=habits, layers=tuple(said.items()), version=version, facts=known, changed=changed)


def _day(name: str, version: str, data: dict[str, Any]) -> str:
    """The day of a version, or the last one of its month."""
    if not DATE.fullmatch(version):
        raise InputError(f"{version} is no month or day", f"write it as {name}@2025-01", field="--code")
    day = f"{version}-31"[:10]
    if day < str(data.get("since", "")):
        since = f"archcalc knows {name} of {data['since']} and later, not of {version}"
        raise InputError(since, f"leave @{version} out", field="--code")
    return day


def _of_file(name: str, data: dict[str, Any]) -> Code:
    """What a library's file says of every version and every family; words of --precision as `plain` means them, where
    it says nothing of them."""
    precisions = {**_library(PLAIN)["precisions"], **data.get("precisions", {})}
    rules: dict[str, Any] = {kind: tuple(map(Rule.of, data.get(kind, ()))) for kind in RULES}
    return Code(
        name,
        data["about"],
        Habits(),
        source=data["source"],
        numbers=tuple(data.get("numbers", {}).items()),
        **rules,
        precisions=tuple((word, tuple(map(Rule.of, rules))) for word, rules in precisions.items()),
        choices=tuple((habit, tuple(names)) for habit, names in data.get("choices", {}).items()),
        architectures=tuple(data.get("architectures", ())),
        measured_kinds=tuple(data.get("measured_kinds", ())),
        release=str(data.get("release", "")),
    )


def known() -> tuple[str, ...]:
    """The names that `code` takes."""
    return tuple(sorted(paths.presets("code")))


def _library(name: str, above: tuple[str, ...] = ()) -> dict[str, Any]:
    """The file's own words, and what it has of another library whose layers it trains."""
    files = paths.presets("code")
    if name not in files:
        raise InputError(f"no training code called {name}", did_you_mean(name, known()), field="--code")
    own = _read(files[name])
    if LIKE not in own:
        return own
    if own[LIKE] in (name, *above):
        raise InputError(f"{name} is like itself", "name another library", field=str(files[name]))
    other = _library(own[LIKE], (*above, name))
    merged = {key: {**other.get(key, {}), **own.get(key, {})} for key in ("habits", "layers", "precisions")}
    return {**other, **own, **merged, "recipes": [*own.get("recipes", ()), *other.get("recipes", ())]}


@cache
def _read(file: Path) -> dict[str, Any]:
    """The file itself, checked by its fields."""
    found = document(file)
    with found.locating():
        read_node(CodeFile, found.data)
    return found.data


def _before(data: dict[str, Any], day: str) -> dict[str, Any]:
    """What held on that day: of each later change, the choice before it."""
    found: dict[str, Any] = {}
    for change in sorted(data.get(EARLIER, []), key=lambda one: str(one["before"]), reverse=True):
        if day and day < str(change["before"]):
            found |= {key: value for key, value in change.items() if key not in ("before", "source")}
    return found
