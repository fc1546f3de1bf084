"""Libraries that people train with, read from presets/code."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.code.facts import NOTHING_SAID, Facts, facts, is_described, of_class
from archcalc.run.code.habits import Habits
from archcalc.run.code.rules import Rule
from archcalc.spec import paths

PLAIN, TRANSFORMERS = "plain", "transformers"
EARLIER = "earlier"  # changes, of which a version has the choice before
DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")


@dataclass(frozen=True)
class Code:
    """One implementation of a model's layers: a library, of a month, for a family."""

    name: str
    about: str
    habits: Habits
    version: str = ""
    facts: Facts = NOTHING_SAID
    numbers: tuple[tuple[str, int], ...] = ()  # sizes that it has chosen, by name
    assumed: tuple[Rule, ...] = ()  # what is said under a report
    unmeasured: tuple[Rule, ...] = ()  # what rests on its source alone
    refused: tuple[Rule, ...] = ()  # what it does not have
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()  # habits that people choose by its flags, and what from
    architectures: tuple[str, ...] = ()  # the families of architectures that it has; empty: any
    measured_kinds: tuple[str, ...] = ()  # kinds of op in the runs that it was compared with; empty: no such list
    missing: str = ""  # the family that the library's file does not have, where its own layers stand in

    def number(self, name: str) -> int:
        return dict(self.numbers)[name]

    @property
    def is_plain(self) -> bool:
        return self.name == PLAIN

    def with_habits(self, choices: tuple[str, ...]) -> Code:
        """The same with other choices, written as `loss=fp32`."""
        chosen = dict(map(self._chosen, choices))
        return replace(self, habits=replace(self.habits, **chosen)) if chosen else self

    def _chosen(self, written: str) -> tuple[str, str]:
        """One choice, if the library leaves it."""
        known = [f"{habit}={choice}" for habit, choices in self.choices for choice in choices]
        if not known:
            raise InputError(f"{self.name} code leaves no choice", "leave --habit out", field="--habit")
        if written not in known:
            raise InputError(f"{self.name} code has no choice {written}", did_you_mean(written, known), field="--habit")
        habit, _, choice = written.partition("=")
        return habit, choice

    def assumption(self, *, said: bool, autocast: bool) -> Assumption:
        """Which code was assumed, and how far."""
        of = f" as of {self.version}" if self.version else ""
        text = f"code: {self.about}{of}"
        if autocast and not self.is_plain:
            text = f"{text}; under autocast its optimizer, loop and allocator alone, with archcalc's own layers"
        if self.missing:
            text = f"{text}; how transformers computes {self.missing} so has not been compared"
        return Assumption(Topic.CODE, text, self.name, "" if said else "--code")


OWN = Code(PLAIN, "archcalc's own layers", Habits())


def code(written: str, model_type: str = "", config: Mapping[str, Any] | None = None) -> Code:
    """A library by its name, perhaps of a month: `torchtitan@2024-12`. `model_type` is a family of transformers, and
    `config` what its config.json says."""
    name, _, version = written.lower().partition("@")
    if name == PLAIN:
        return OWN
    data = _library(name)
    if name == TRANSFORMERS and not is_described(model_type):
        raise _no_family(model_type)
    if version and not DATE.fullmatch(version):
        raise InputError(f"{version} is no month or day", f"write it as {name}@2025-01", field="--code")
    if version and _end_of(version) < str(data.get("since", "")):
        since = f"archcalc knows {name} of {data['since']} and later, not of {version}"
        raise InputError(since, f"leave @{version} out", field="--code")
    family = data.get("families", {}).get(model_type, {})
    own = {habit: choice for habit, choice in family.items() if habit != EARLIER}
    general = data["habits"] | _of_version(data, version) | _of_class(data, name, model_type, config)
    said = general | own | _of_version(family, version)
    return Code(
        name,
        data["about"],
        Habits.of(said, f"code {name}"),
        version,
        facts(data, model_type, config),
        tuple(data.get("numbers", {}).items()),
        assumed=_rules(data, "assumed"),
        unmeasured=_rules(data, "unmeasured"),
        refused=_rules(data, "refused"),
        choices=tuple((habit, tuple(names)) for habit, names in data.get("choices", {}).items()),
        architectures=tuple(data.get("architectures", ())),
        measured_kinds=tuple(data.get("measured_kinds", ())),
    )


def _of_class(data: dict[str, Any], name: str, model_type: str, config: Mapping[str, Any] | None) -> dict[str, str]:
    return of_class(data, model_type, config) if name == TRANSFORMERS else {}


def _rules(data: dict[str, Any], kind: str) -> tuple[Rule, ...]:
    return tuple(map(Rule.of, data.get(kind, ())))


def usual_code(model_type: str, config: Mapping[str, Any] | None = None) -> Code:
    """transformers for a model that it has, else archcalc's own layers."""
    return code(TRANSFORMERS, model_type, config) if is_described(model_type) else not_compared(model_type)


def not_compared(model_type: str) -> Code:
    """archcalc's own layers, in the place of transformers' code."""
    return replace(OWN, missing=model_type) if model_type else OWN


def _no_family(model_type: str) -> InputError:
    hint = "leave --code out, or name another"
    if model_type:
        fact = f"archcalc does not know how transformers computes {model_type}"
        return InputError(fact, hint, field="--code")
    fact = "the spec names no family of transformers, such as `transformers: llama`"
    return InputError(fact, hint, field="--code")


def known() -> tuple[str, ...]:
    """The names that `code` takes."""
    return (*sorted(paths.presets("code")), PLAIN)


@cache
def _library(name: str) -> dict[str, Any]:
    from archcalc.spec.yaml_reader import read

    files = paths.presets("code")
    if name not in files:
        raise InputError(f"no training code called {name}", did_you_mean(name, known()), field="--code")
    return read(files[name].read_bytes(), f"code {name}").data


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
