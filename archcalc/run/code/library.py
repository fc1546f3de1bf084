"""Libraries that people train with, read from presets/code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.code.code_file import EARLIER, CodeFile
from archcalc.run.code.habits import Habits
from archcalc.run.code.model_types import NOTHING_SAID, Facts, code_of, described, facts, is_described, task_of
from archcalc.run.code.rules import Rule
from archcalc.spec import paths
from archcalc.spec.data_files import document, node
from archcalc.styles.ways import WAYS, way

PLAIN, TRANSFORMERS = "plain", "transformers"
LIKE = "like"  # another library, whose layers it trains
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

    @property
    def is_plain(self) -> bool:
        return self.name == PLAIN

    def ends_of_years(self) -> list[str]:
        """Of the years in which it changed or was there before: `2024-12`."""
        return [f"{year}-12" for year in dict.fromkeys(int(day[:4]) - 1 for day in self.changed)]

    def with_habits(self, choices: tuple[str, ...]) -> Code:
        """The same with other choices, written as `loss=fp32`."""
        chosen = dict(map(self._chosen, choices))
        layers = {**dict(self.layers), **{name: value for name, value in chosen.items() if name in WAYS}}
        habits = {name: value for name, value in chosen.items() if name in Habits.names()}
        return replace(self, habits=replace(self.habits, **habits), layers=tuple(layers.items()))

    def layer(self, name: str) -> str:
        """The name of its function for a layer."""
        return dict(self.layers).get(name) or next(iter(WAYS[name]))

    @property
    def overwrites_logits(self) -> bool:
        return self.layer("loss") in ("in_place", "in_place_fp32")

    def model_casts_logits(self, loss_chunks: int) -> bool:
        """Whether the model returns fp32 logits: not as a list of chunks."""
        return self.layer("loss") == "model_fp32" and (loss_chunks == 1 or self.habits.loss_chunks != "list")

    def _chosen(self, written: str) -> tuple[str, str]:
        """One choice, if the library leaves it."""
        known = [f"{habit}={choice}" for habit, choices in self.choices for choice in choices]
        if not known:
            raise InputError(f"{self.name} code leaves no choice", "leave --habit out", field="--habit")
        if written not in known:
            raise InputError(f"{self.name} code has no choice {written}", did_you_mean(written, known), field="--habit")
        habit, _, choice = written.partition("=")
        return habit, choice

    @property
    def words(self) -> str:
        """`transformers 5.22`, `torchtitan of 2024-12`."""
        if self.is_plain:
            return "plain PyTorch"
        return f"{self.name} of {self.version}" if self.version else f"{self.name} {self.release}".strip()


OWN = Code(PLAIN, "its own modules, as its documentation uses them", Habits())


def code(written: str, model_type: str = "", config: Mapping[str, Any] | None = None) -> Code:
    """A library by its name, perhaps of a month: `torchtitan@2024-12`. `model_type` is a family of transformers, and
    `config` what its config.json says."""
    name, _, version = written.lower().partition("@")
    data = _library(name)
    if data.get(LIKE, name) == TRANSFORMERS and not is_described(model_type):
        raise _no_family(model_type)
    if version and not DATE.fullmatch(version):
        raise InputError(f"{version} is no month or day", f"write it as {name}@2025-01", field="--code")
    if version and _end_of(version) < str(data.get("since", "")):
        since = f"archcalc knows {name} of {data['since']} and later, not of {version}"
        raise InputError(since, f"leave @{version} out", field="--code")
    like = data.get(LIKE, name)
    of_type = code_of(model_type, like)
    own = {key: choice for key, choice in of_type.items() if key != EARLIER}
    general = {**data.get("layers", {}), **data.get("habits", {}), **_of_version(data, version)}
    said = {**general, **_of_class(data, like, model_type, config), **own, **_of_version(of_type, version)}
    known = facts(model_type, config) if like == TRANSFORMERS else NOTHING_SAID
    if "activation" in said:
        known = replace(known, activation=said.pop("activation"))
    habits = {key: said.pop(key) for key in Habits.names() & said.keys()}
    for layer, choice in said.items():
        way(layer, choice, f"code {name}")
    return Code(
        name,
        data["about"],
        Habits.of(habits, f"code {name}"),
        tuple(said.items()),
        data["source"],
        version,
        known,
        tuple(data.get("numbers", {}).items()),
        assumed=_rules(data, "assumed"),
        unmeasured=_rules(data, "unmeasured"),
        refused=_rules(data, "refused"),
        recipes=_rules(data, "recipes"),
        precisions=_precisions(data),
        choices=tuple((habit, tuple(names)) for habit, names in data.get("choices", {}).items()),
        architectures=tuple(data.get("architectures", ())),
        measured_kinds=tuple(data.get("measured_kinds", ())),
        release=str(data.get("release", "")),
        changed=tuple(sorted(str(one["before"]) for part in (data, of_type) for one in part.get(EARLIER, ()))),
    )


def _of_class(data: dict[str, Any], like: str, model_type: str, config: Mapping[str, Any] | None) -> dict[str, str]:
    """What follows from a class of transformers: if it calls a kernel for attention, and how it computes its loss."""
    if like != TRANSFORMERS or not is_described(model_type):
        return {}
    of_task = data.get("tasks", {}).get(task_of(model_type, config), {})
    return {"attention": described(model_type)["attention"], **of_task}


def _rules(data: dict[str, Any], kind: str) -> tuple[Rule, ...]:
    return tuple(map(Rule.of, data.get(kind, ())))


def _precisions(data: dict[str, Any]) -> tuple[tuple[str, tuple[Rule, ...]], ...]:
    """Those of `plain`, where the library's file says nothing of a word."""
    words = {**_library(PLAIN)["precisions"], **data.get("precisions", {})}
    return tuple((word, tuple(map(Rule.of, rules))) for word, rules in words.items())


def usual_code(model_type: str, config: Mapping[str, Any] | None = None) -> Code:
    """transformers for a model that it has, else PyTorch's own modules."""
    return code(TRANSFORMERS, model_type, config) if is_described(model_type) else code(PLAIN)


def _no_family(model_type: str) -> InputError:
    hint = "leave --code out, or name another"
    if model_type:
        fact = f"archcalc does not know how transformers computes {model_type}"
        return InputError(fact, hint, field="--code")
    fact = "the spec names no family of transformers, such as `transformers: llama`"
    return InputError(fact, hint, field="--code")


def known() -> tuple[str, ...]:
    """The names that `code` takes."""
    return tuple(sorted(paths.presets("code")))


def _library(name: str, above: tuple[str, ...] = ()) -> dict[str, Any]:
    files = paths.presets("code")
    if name not in files:
        raise InputError(f"no training code called {name}", did_you_mean(name, known()), field="--code")
    data = _read(files[name])
    if LIKE not in data:
        return data
    if data[LIKE] in (name, *above):
        raise InputError(f"{name} is like itself", "name another library", field=str(files[name]))
    return _added(_library(data[LIKE], (*above, name)), data)


@cache
def _read(file: Path) -> dict[str, Any]:
    """The file itself, checked by its fields."""
    node(file, CodeFile)
    return document(file).data


def _added(other: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """What a library has of another whose layers it trains, and what it does in its own way."""
    merged = {key: {**other.get(key, {}), **own.get(key, {})} for key in ("habits", "layers", "precisions")}
    return {**other, **own, **merged, "recipes": [*own.get("recipes", ()), *other.get("recipes", ())]}


def _of_version(data: dict[str, Any], version: str) -> dict[str, str]:
    """What held on that day, or at the end of that month: of each later change, the choice before it."""
    found: dict[str, str] = {}
    for change in sorted(data.get(EARLIER, []), key=lambda one: str(one["before"]), reverse=True):
        if version and _end_of(version) < str(change["before"]):
            found |= {key: value for key, value in change.items() if key not in ("before", "source")}
    return found


def _end_of(version: str) -> str:
    """A day itself, or the last one of a month."""
    return f"{version}-31"[:10]
