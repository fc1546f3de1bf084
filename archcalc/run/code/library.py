"""Libraries that people train with, read from presets/code, and what presets/hf says about the code of a model type:
its classes, and how each library computes its layers.

    {"attention": "fused", …, "code": {"transformers": {"rms_norm": "upcast_weight"}}}        presets/hf/gemma.json

Keys of `code` are libraries; `config` names keys of the type's config.json: the activation, a cap on the logits, the
number of experts, whether the weights of chosen experts are divided by their sum, and dropout's rate at each place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.code.code_file import CodeFile, Rule
from archcalc.run.code.habits import NAMES, Habits
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.model_types import described
from archcalc.styles.ways import WAYS, way

CODE, CONFIG = "code", "config"
PLAIN, TRANSFORMERS = "plain", "transformers"
EARLIER = "earlier"  # changes of a type of model
LATEST = "9999-12"  # before which every change was made
DATE = re.compile(r"\d{4}-\d{2}(-\d{2})?")
RELEASE = re.compile(r"v?(\d{1,3}\.\d{1,3})(\.\w+)*")


@dataclass(frozen=True)
class Facts:
    """What a config.json says. `dropout` names the places that have it, or is None where nothing is known of them."""

    activation: str = ""
    caps_logits: bool = False
    divides_chosen: bool = False  # the weights of chosen experts, by their sum
    has_experts: bool = False
    dropout: tuple[str, ...] | None = None


NOTHING_SAID = Facts()


@dataclass(frozen=True)
class Code:
    """One implementation of a model's layers: a library, of a month, for a family. Its file says what holds for every
    month and family."""

    name: str
    file: CodeFile
    habits: Habits = field(default_factory=Habits)
    layers: Mapping[str, str] = field(default_factory=dict)  # the names of its forward functions
    version: str = ""
    facts: Facts = NOTHING_SAID
    precisions: Mapping[str, list[Rule]] = field(default_factory=dict)  # what the words of --precision mean by it
    ends_of_years: tuple[str, ...] = ()  # in which it changed or was there before: `2024-12`

    def number(self, name: str) -> int:
        if name not in self.file.numbers:
            raise InputError(f"the file of {self.name} has a habit that needs the number {name}", field="--code")
        return self.file.numbers[name]

    def with_habits(self, choices: tuple[str, ...]) -> Code:
        """The same with other choices that the library leaves, written as `loss=fp32`."""
        known = [f"{habit}={choice}" for habit, choices in self.file.choices.items() for choice in choices]
        layers, habits = dict(self.layers), dict[str, Any]()
        for written in choices:
            if not known:
                raise InputError(
                    f"{self.name} code has no such option", "leave --code-option out", field="--code-option"
                )
            if written not in known:
                fact = f"{self.name} code has no choice {written}"
                raise InputError(fact, did_you_mean(written, known), field="--code-option")
            name, _, choice = written.partition("=")
            layers |= {name: choice} if name in WAYS else {}
            habits |= {name: choice} if name in NAMES else {}
        return replace(self, habits=replace(self.habits, **habits), layers=layers)

    @property
    def base(self) -> str:
        """The library whose layers it trains."""
        return self.file.like or self.name

    @property
    def overwrites_logits(self) -> bool:
        return self.layers.get("loss") in ("in_place", "in_place_fp32")

    @property
    def words(self) -> str:
        """`transformers 4.48`, `torchtitan of 2024-12`."""
        if self.name == PLAIN:
            return "plain PyTorch"
        if DATE.fullmatch(self.version):
            return f"{self.name} of {self.version}"
        return f"{self.name} {self.version or self.file.release}".strip()


OWN = Code(PLAIN, CodeFile(name=PLAIN, about="", source=""))  # of a run that trains nothing


def code(written: str | None, model_type: str = "", config: Mapping[str, Any] | None = None) -> Code:
    """A library by its name, perhaps of a month or a release: `torchtitan@2024-12`, `transformers@4.48`. Without a name
    it is transformers for a model that it has, else PyTorch's own modules. `model_type` is a family of transformers,
    `config` its config.json."""
    about = described(model_type)
    name, _, version = (written or (TRANSFORMERS if about else PLAIN)).lower().partition("@")
    file = _library(name)
    like, day = file.like or name, _day(file, version)
    if like == TRANSFORMERS and not about:
        fact = "the spec names no family of transformers, such as `transformers: llama`"
        fact = f"archcalc does not know how transformers computes {model_type}" if model_type else fact
        raise InputError(fact, "leave --code out, or name another", field="--code")
    if day < file.since:
        since = f"archcalc knows {name} of {file.since} and later, not of {version}"
        raise InputError(since, f"leave @{version} out", field="--code")
    of_type = about.get(CODE, {}).get(like, {})
    said = _choices(file, about if like == TRANSFORMERS else {}, config, of_type, day)
    known = _facts(about, config) if like == TRANSFORMERS else NOTHING_SAID
    known = replace(known, activation=said.pop("activation", known.activation))
    habits = Habits.of({key: said.pop(key) for key in NAMES & said.keys()}, f"code {name}")
    for layer, choice in said.items():
        way(layer, choice, f"code {name}")
    changes = (*file.earlier, *of_type.get(EARLIER, ()))
    years = sorted({int(str(change["before"])[:4]) - 1 for change in changes})
    precisions = {**_library(PLAIN).precisions, **file.precisions}  # as `plain` means them, where it says nothing
    return Code(name, file, habits, said, version, known, precisions, tuple(f"{year}-12" for year in years))


def _day(file: CodeFile, version: str) -> str:
    """Of a month the last one, of a release that on which it was made; one behind every change, without a version."""
    if not version or DATE.fullmatch(version):
        return f"{version or LATEST}-31"[:10]
    release = RELEASE.fullmatch(version)
    if release and file.releases:
        if release[1] in file.releases:
            return file.releases[release[1]]
        fact = f"archcalc does not know when {file.name} {version} was made"
        raise InputError(fact, f"write its month, {file.name}@2025-01", field="--code")
    raise InputError(f"{version} is no month or day", f"write it as {file.name}@2025-01", field="--code")


def _choices(
    file: CodeFile, about: Mapping[str, Any], config: Mapping[str, Any] | None, of_type: Mapping[str, Any], day: str
) -> dict[str, Any]:
    """What held on that day, by layer or habit: for every model, for the class of transformers that a config names, or
    the usual one of its type, and for the type itself; of each later change, the choice before it."""
    of_class: dict[str, Any] = {}
    if about:  # whether a class calls a kernel for attention, and how it computes its loss
        named = [name for name in (config or {}).get("architectures") or () if name in about["classes"]]
        task = about["classes"][named[0]] if named else about["usual"]
        of_class = {"attention": about["attention"], **file.tasks.get(task, {})}
    of_class |= {key: choice for key, choice in of_type.items() if key != EARLIER}
    found: dict[str, Any] = {}
    usual = {**file.layers, **file.habits}
    for chosen, changes in ((usual, file.earlier), (of_class, of_type.get(EARLIER, ()))):
        found |= chosen
        for change in sorted(changes, key=lambda one: str(one["before"]), reverse=True):
            if day < str(change["before"]):
                found |= {key: value for key, value in change.items() if key not in ("before", "source")}
    return found


def known() -> tuple[str, ...]:
    """The names that `code` takes."""
    return tuple(sorted(paths.presets("code")))


def base(name: str) -> str:
    """The library whose layers another trains."""
    return _library(name).like or name


def releases(name: str) -> tuple[str, ...]:
    """The numbers that `code` takes behind a library's name."""
    return tuple(_library(name).releases)


def _library(name: str, above: tuple[str, ...] = ()) -> CodeFile:
    """What its file says, and what it has of another library whose layers it trains."""
    files = paths.presets("code")
    if name not in files:
        raise InputError(f"no training code called {name}", did_you_mean(name, known()), field="--code")
    own = node(files[name], CodeFile)
    if not own.like:
        return own
    if own.like in (name, *above):
        raise InputError(f"{name} is like itself", "name another library", field=str(files[name]))
    other = _library(own.like, (*above, name))
    said = {key: getattr(own, key) for key in (*own.model_fields_set, "releases")}
    said |= {key: {**getattr(other, key), **getattr(own, key)} for key in ("habits", "layers", "precisions")}
    said |= {"recipes": [*own.recipes, *other.recipes], "earlier": [*other.earlier, *own.earlier]}
    return other.model_copy(update=said)


def _facts(about: Mapping[str, Any], config: Mapping[str, Any] | None) -> Facts:
    """By the keys that the type's file names; what a config leaves out has the default of its class, and a field may
    have another name there."""
    keys, aliases = about.get(CODE, {}).get(CONFIG, {}), about["aliases"]
    said = {**about["defaults"], **{aliases.get(key, key): value for key, value in (config or {}).items()}}
    experts, places = said.get(keys.get("experts", "")), keys.get("dropout")
    found = Facts(
        caps_logits=bool(said.get(keys.get("logits_cap", ""))),
        divides_chosen=bool(said.get(keys.get("divides_chosen", ""))),
        has_experts=isinstance(experts, int) and experts > 1,
    )
    if not config:
        return found
    names = (said[key] for key in keys.get("activation", ()) if isinstance(said.get(key), str))
    dropped = None if places is None else tuple(place for place, key in places.items() if said.get(key))
    return replace(found, activation=next(names, ""), dropout=dropped)
