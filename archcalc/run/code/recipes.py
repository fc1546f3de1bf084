"""What a training code runs where a question leaves it open, and what a word of `--precision` means by it.

meant("mixed", code("transformers", "llama"), asked)     fp32 weights under autocast; shards of them with --zero 3
recipe_defaults(code, asked)["recompute"]                the value, why, and where that is from
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.code.library import Code
from archcalc.run.code.support import said
from archcalc.run.precision_recipes import Recipe, recipe

if TYPE_CHECKING:
    from archcalc.run.options import Options


@dataclass(frozen=True)
class Default:
    """What a code runs unless another value is asked for: why, and the file or document that says so."""

    value: Any
    why: str
    source: str


def recipe_defaults(used: Code, asked: Options) -> dict[str, Default]:
    """By the name of the option, of those that the code decides: the first rule of its file that holds."""
    habits = used.habits
    values: dict[str, Any] = {"optimizer": habits.optimizer, "allocator": habits.allocator}
    values |= {"loss_chunks": habits.usual_chunks} if habits.usual_chunks > 1 else {}
    values |= {"accumulate": habits.micro_batches} if habits.micro_batches > 1 else {}
    found = {name: Default(value, f"as {used.name} has it", used.source) for name, value in values.items()}
    options = said(asked, used)
    for rule in reversed(used.recipes):
        if rule.holds(options):
            found |= {name: Default(value, rule.about, rule.source) for name, value in rule.values}
    return found


def meant(word: str, used: Code, asked: Options) -> Recipe:
    """The recipe of a word of `--precision`, given the other options."""
    rules = dict(used.precisions)
    if word not in rules:
        hint = f"{did_you_mean(word, rules)} (fp16: mixed takes the same)"
        raise InputError(f"no training precision called {word}", hint, field="--precision")
    options = said(asked, used)
    rule = next((rule for rule in rules[word] if rule.holds(options)), None)
    if rule is None:
        raise InputError(f"no rule of {used.name} says what {word} means here", field="--precision")
    found = dict(rule.values).get("recipe")
    if not found:
        raise InputError(rule.about, rule.hint, field="--precision")
    return replace(recipe(found), word=word)
