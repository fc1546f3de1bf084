"""What the rules of a training code say, given the options: what it runs where a question leaves it open, what a word
of `--precision` means by it, what it does not have, and what of a model was never measured with it.

recipe_defaults(code, asked)["recompute"]        the value, why, and where that is from
meant(code, asked, recipe_defaults(…), "bf16")   fp32 weights under autocast; shards of them with --zero 3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import Module
from archcalc.core.tree import ops_in
from archcalc.run.code.library import Code
from archcalc.run.precision_recipes import CHECKPOINT, WIDE_FILES, Recipe, recipe
from archcalc.spec.option import declared, flag_of
from archcalc.storage.named_formats import weight_format

if TYPE_CHECKING:
    from archcalc.run.options import Options

DIVIDES = {  # options that mean something only where a library's code says what, by the habit that says it
    "pp": ("pipeline", "how layers are divided among pipeline stages"),
    "ep": ("expert_parallel", "how experts are dealt out to GPUs"),
}
MIXTURE = "mixture"  # what rules call a model with experts
QUANTISED = "quantised"  # what rules call weights in a quantised format


@dataclass(frozen=True)
class Default:
    """What a code runs unless another value is asked for: why, and the file or document that says so."""

    value: Any
    why: str
    source: str


def said(asked: Options, used: Code) -> dict[str, Any]:
    """Options, habits and layers in one table, of an option that is also a habit's name, the option; whether the model
    is a `mixture`, and whether the weights are `quantised`."""
    holder: type = type(asked)
    options = {name for name, _ in declared(holder)}
    every = {**vars(used.habits), **used.layers, MIXTURE: used.facts.has_experts}
    chosen = {name: choice for name, choice in every.items() if name not in options}
    return chosen | asked.given | {QUANTISED: asked.weights is not None and weight_format(asked.weights).is_quantised}


def recipe_defaults(used: Code, asked: Options) -> dict[str, Default]:
    """By the name of the option, of those that the code decides: the first rule of its file that holds."""
    habits = used.habits
    values: dict[str, Any] = {"optimizer": habits.optimizer, "allocator": habits.allocator}
    values |= {"loss_chunks": habits.usual_chunks} if habits.usual_chunks > 1 else {}
    values |= {"recompute": habits.usual_recompute} if habits.usual_recompute != "none" else {}
    values |= {"accumulate": habits.micro_batches} if habits.micro_batches > 1 else {}
    found = {name: Default(value, f"as {used.name} has it", used.file.source) for name, value in values.items()}
    options = said(asked, used)
    for rule in reversed(used.file.recipes):
        if rule.holds(options):
            found |= {name: Default(value, rule.about, rule.source) for name, value in rule.values.items()}
    return found


def meant(used: Code, asked: Options, usual: dict[str, Default], stored: str | None) -> Recipe:
    """The recipe of the precision that is asked for, of the code's own, or of mixed precision for a model whose files
    are `stored` in 16 bits, given the other options; frozen weights in the number format of the files, where the
    recipe leaves them in that."""
    is_wide = stored in WIDE_FILES
    by_files = Default("fp32" if is_wide else "mixed", "", "")
    word = asked.precision or str(usual.get("precision", by_files).value)
    if word not in used.precisions:
        hint = f"{did_you_mean(word, used.precisions)} (fp16: mixed takes the same)"
        raise InputError(f"no training precision called {word}", hint, field="--precision")
    options = said(asked, used)
    rule = next((rule for rule in used.precisions[word] if rule.holds(options)), None)
    if rule is None:
        raise InputError(f"no rule of {used.name} says what {word} means here", field="--precision")
    if not rule.values.get("recipe"):
        raise InputError(rule.about, rule.hint, field="--precision")
    found = replace(recipe(rule.values["recipe"]), word=word)
    if found.frozen != CHECKPOINT:
        return found
    return replace(found, frozen="fp32" if is_wide else "bf16")


def check(asked: Options, used: Code, family: str) -> None:
    """Refuse what the library does not have; `family` is the model's family of architectures."""
    if used.file.architectures and family not in used.file.architectures:
        fact = f"{used.name} has {' and '.join(used.file.architectures)} models, no {family} ones"
        raise InputError(fact, "leave --code out", field="--code")
    for option, (habit, what) in DIVIDES.items():
        if (getattr(asked, option) or 1) > 1 and getattr(used.habits, habit) == "none":
            fact = f"archcalc does not know {what} by {used.name} code"
            raise InputError(fact, f"add --code megatron, or leave {flag_of(option)} out", field=flag_of(option))
    known = said(asked, used)
    for rule in used.file.refuses:
        if rule.holds(known):
            raise InputError(rule.about, rule.hint or f"leave {flag_of(rule.first)} out", field=flag_of(rule.first))


def unmeasured_ops(root: Module, used: Code) -> Iterator[Assumption]:
    """What of the model no run has that the library was compared with."""
    kinds = dict.fromkeys(op.kind for op in ops_in(root) if op.traits.allocates)
    others = [kind.replace("_", " ") for kind in kinds if kind not in used.file.measured_kinds]
    if used.file.measured_kinds and others:
        text = f"estimate: no measured run of {used.name} has {', '.join(others)}"
        yield Assumption(Topic.ESTIMATE, text)
