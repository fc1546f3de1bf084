"""What a file of `presets/code` says: strict nodes, so that a slip of the pen is an error with its line; and its rules,
which say something of options where others, or habits, have some values.

refused: [{when: {zero: [2, 3]}, about: its distributed optimizer shards no gradients, hint: use --zero 1}]
recipes: [{when: {lora: any, weights: any}, recompute: full, about: …, source: …}]
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, Field, PlainValidator
from pydantic_core import PydanticKnownError

from archcalc.core.errors import InputError
from archcalc.run.all_options import AllOptions
from archcalc.spec import paths
from archcalc.spec.node import Node, mistake, shown
from archcalc.spec.option import declared, flag_of

RECIPE = "recipe"  # what a rule says of a word of --precision
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
ANY = "any"  # whatever is given, but nothing that switches an option off
OFF = (None, False, 0, 1, "none")
TEXTS = ("about", "hint", "source")  # of a rule
Words = dict[str, str]
Habit = dict[str, str | int]


@dataclass(frozen=True)
class Rule:
    """Holds where every option or habit that it names has one of some values; without any, always.

    `values` are what it says of other options, by their names."""

    when: dict[str, list[Any]]
    values: dict[str, Any]
    about: str = ""
    hint: str = ""
    source: str = ""

    @property
    def first(self) -> str:
        """The option or habit that it is about."""
        return next(iter(self.when))

    def holds(self, said: Mapping[str, Any]) -> bool:
        """Of an option that takes several values, one of those that are named is enough."""
        for name, values in self.when.items():
            given = said.get(name)
            each = given if isinstance(given, tuple) else (given,)
            if not any(one in values or (ANY in values and one not in OFF) for one in each):
                return False
        return True


def _rule(said: Any, *, is_conditional: bool = False) -> Rule:
    """Its texts, its conditions, which are names with values, and what else it says: options, each read as such."""
    if not isinstance(said, dict):
        raise PydanticKnownError("dict_type")
    texts = {word: said[word] for word in TEXTS if word in said}
    for word, text in texts.items():
        if not isinstance(text, str):
            raise mistake(f"expected text for {word}, found {shown(text)}")
    asked = said.get("when", {})
    named = asked.items() if isinstance(asked, dict) else [("", {})]
    when = {name: one if isinstance(one, list) else [one] for name, one in named}
    if any(isinstance(each, dict) for one in when.values() for each in one):
        raise mistake("expected options and their values for when, such as `zero: [2, 3]`")
    values = {name: value for name, value in said.items() if name not in (*TEXTS, "when")}
    known, recipes = dict(declared(AllOptions)), paths.shipped("recipes")
    for name, value in values.items():
        if name == RECIPE and isinstance(value, str) and value in recipes:
            continue
        if name not in known:
            raise mistake(f"no option is called {name}")
        try:
            known[name].read(value, flag_of(name))
        except InputError as error:
            raise mistake(f"{name}: {error.fact}") from None
    if is_conditional and not when:
        raise mistake("a rule of this kind says when it holds, such as `when: {zero: [2, 3]}`")
    return Rule(when, values, **texts)


def _change(said: Habit) -> Habit:
    if not DAY.fullmatch(str(said.get("before", ""))):
        raise mistake("a change says before which day the choice was another: `before: 2025-03-26`")
    return said


RuleForm = Annotated[Rule, PlainValidator(_rule)]
Conditional = Annotated[Rule, PlainValidator(partial(_rule, is_conditional=True))]
Changes = list[Annotated[Habit, AfterValidator(_change)]]


class CodeFile(Node):
    """A library. One that is `like` another has the layers of that."""

    name: str
    about: str
    source: str
    like: str | None = None
    since: str = ""  # the day from which on it is known
    release: str = ""  # of the library, as it was read
    releases: dict[str, str] = Field(default_factory=dict)  # the day of each, by the first two parts of its number
    layers: Words = Field(default_factory=dict)  # the names of its forward functions (`archcalc.styles.ways`)
    habits: Habit = Field(default_factory=dict)
    earlier: Changes = Field(default_factory=list)  # the choice before a change, and the day of the change
    tasks: dict[str, Words] = Field(default_factory=dict)
    numbers: dict[str, Annotated[int, Field(ge=1)]] = Field(default_factory=dict)  # sizes that it has chosen, by name
    choices: dict[str, list[str]] = Field(default_factory=dict)  # habits that people choose by its flags, and what from
    architectures: list[str] = Field(default_factory=list)  # the families of architectures that it has; empty: any
    measured_kinds: list[str] = Field(default_factory=list)  # kinds of op in the runs that it was compared with
    precisions: dict[str, list[RuleForm]] = Field(default_factory=dict)  # what the words of --precision mean by it
    recipes: list[RuleForm] = Field(default_factory=list)  # what it runs where a question leaves an option open
    assumed: list[Conditional] = Field(default_factory=list)  # what is said under a report
    unmeasured: list[RuleForm] = Field(default_factory=list)  # what rests on its source alone
    refuses: list[Conditional] = Field(default_factory=list, alias="refused")  # what it does not have
