"""What a training code runs where a question leaves it open, and what a word of `--precision` means by it.

meant("mixed", code("transformers", "llama"), asked)     fp32 weights under autocast; shards of them with --zero 3
recipe_defaults(code, asked)["recompute"]                the value, why, and where that is from
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.code.library import PLAIN, Code, code
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
    found = {"optimizer": _of_habit(used, used.habits.optimizer), "allocator": _of_habit(used, used.habits.allocator)}
    if used.habits.chunks > 1:
        found["loss_chunks"] = _of_habit(used, used.habits.chunks)
    if used.habits.micro_batches > 1:
        found["accumulate"] = _of_habit(used, used.habits.micro_batches)
    options = said(asked, used)
    for rule in reversed(used.recipes):
        if rule.holds(options):
            found |= {name: Default(value, rule.about, rule.source) for name, value in rule.values}
    return found


def _of_habit(used: Code, value: Any) -> Default:
    return Default(value, f"as {used.name} has it", used.source)


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


def words() -> tuple[str, ...]:
    """What `--precision` takes when a model is trained."""
    return tuple(dict(code(PLAIN).precisions))


def activations_of(word: str) -> str:
    """The number format of activations, which no code and no other option changes."""
    rules = dict(code(PLAIN).precisions)
    if word not in rules:
        raise InputError(f"no training precision called {word}", did_you_mean(word, rules), field="--precision")
    return next(recipe(name).activations for rule in rules[word] for _, name in rule.values)
