"""What a file of `presets/code` says: strict nodes, so that a slip of the pen is an error with its line; and its rules,
which say something of options where others, or habits, have some values.

refused: [{when: {zero: [2, 3]}, about: its distributed optimizer shards no gradients, hint: use --zero 1}]
recipes: [{when: {lora: any, weights: any}, recompute: full, about: …, source: …}]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from archcalc.core.errors import InputError
from archcalc.run.all_options import AllOptions
from archcalc.spec import paths
from archcalc.spec.node import Node, mistake, shown
from archcalc.spec.option import declared, flag_of

RECIPE = "recipe"  # what a rule says of a word of --precision
EARLIER, BEFORE = "earlier", "before"  # changes, of which a version has the choice before, and their days
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
ANY = "any"  # whatever is given, but nothing that switches an option off
OFF = (None, False, 0, 1, "none")
WORDS = ("when", "about", "hint", "source")  # keys of a rule that are no values
Words = dict[str, str]
Habit = dict[str, str | int]


@dataclass(frozen=True)
class Rule:
    """Holds where every option or habit that it names has one of some values; without any, always.

    `values` are what it says of other options, by their names."""

    when: tuple[tuple[str, tuple[Any, ...]], ...]
    about: str = ""
    hint: str = ""
    source: str = ""
    values: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Rule:
        said = written.get("when", {}).items()
        when = ((name, tuple(one) if isinstance(one, list) else (one,)) for name, one in said)
        words = {word: written[word] for word in WORDS[1:] if word in written}
        values = tuple((name, value) for name, value in written.items() if name not in WORDS)
        return cls(tuple(when), values=values, **words)

    @property
    def first(self) -> str:
        """The option or habit that it is about."""
        return self.when[0][0]

    def holds(self, said: Mapping[str, Any]) -> bool:
        """Of an option that takes several values, one of those that are named is enough."""
        for name, values in self.when:
            given = said.get(name)
            each = given if isinstance(given, tuple) else (given,)
            if not any(one in values or (ANY in values and one not in OFF) for one in each):
                return False
        return True


def _rule(said: dict[str, Any]) -> dict[str, Any]:
    """Its words are texts, its conditions names with values, and what else it says are options, each read as such."""
    for word in WORDS[1:]:
        if not isinstance(said.get(word, ""), str):
            raise mistake(f"expected text for {word}, found {shown(said[word])}")
    when = said.get("when", {})
    values = when.values() if isinstance(when, dict) else [{}]
    if any(isinstance(each, dict) for one in values for each in (one if isinstance(one, list) else [one])):
        raise mistake("expected options and their values for when, such as `zero: [2, 3]`")
    known, recipes = dict(declared(AllOptions)), paths.shipped("recipes")
    for name, value in said.items():
        if name in WORDS or (name == RECIPE and isinstance(value, str) and value in recipes):
            continue
        if name not in known:
            raise mistake(f"no option is called {name}")
        try:
            known[name].read(value, flag_of(name))
        except InputError as error:
            raise mistake(f"{name}: {error.fact}") from None
    return said


def _conditional(said: dict[str, Any]) -> dict[str, Any]:
    if not said.get("when"):
        raise mistake("a rule of this kind says when it holds, such as `when: {zero: [2, 3]}`")
    return said


def _change(said: Habit) -> Habit:
    if not DAY.fullmatch(str(said.get(BEFORE, ""))):
        raise mistake("a change says before which day the choice was another: `before: 2025-03-26`")
    return said


RuleForm = Annotated[dict[str, Any], AfterValidator(_rule)]
Conditional = Annotated[RuleForm, AfterValidator(_conditional)]
Changes = list[Annotated[Habit, AfterValidator(_change)]]


class CodeFile(Node):
    """A library. One that is `like` another has the layers of that."""

    name: str
    about: str
    source: str
    like: str | None = None
    since: str | None = None
    release: str | None = None
    layers: Words = Field(default_factory=dict)
    habits: Habit = Field(default_factory=dict)
    earlier: Changes = Field(default_factory=list)
    tasks: dict[str, Words] = Field(default_factory=dict)
    numbers: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)
    choices: dict[str, list[str]] = Field(default_factory=dict)
    architectures: list[str] = Field(default_factory=list)
    measured_kinds: list[str] = Field(default_factory=list)
    precisions: dict[str, list[RuleForm]] = Field(default_factory=dict)
    recipes: list[RuleForm] = Field(default_factory=list)
    assumed: list[Conditional] = Field(default_factory=list)
    unmeasured: list[RuleForm] = Field(default_factory=list)
    refuses: list[Conditional] = Field(default_factory=list, alias="refused")
