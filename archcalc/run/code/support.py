"""What a training library does not have, and what is not known of it: refusals, assumptions and estimates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.core.ir import Module
from archcalc.core.tree import ops_in
from archcalc.spec.option import declared, flag_of
from archcalc.storage.named_formats import weight_format

if TYPE_CHECKING:
    from archcalc.run.code.library import Code
    from archcalc.run.options import Options

DIVIDES = {  # options that mean something only where a library's code says what, by the habit that says it
    "pp": ("pipeline", "how layers are divided among pipeline stages"),
    "ep": ("expert_parallel", "how experts are dealt out to GPUs"),
}
MIXTURE = "mixture"  # what rules call a model with experts
QUANTISED = "quantised"  # what rules call weights in a quantised format


def check(asked: Options, used: Code, family: str) -> None:
    """Refuse what the library does not have; `family` is the model's family of architectures."""
    if used.architectures and family not in used.architectures:
        fact = f"{used.name} has {' and '.join(used.architectures)} models, no {family} ones"
        raise InputError(fact, "leave --code out", field="--code")
    for option, (habit, what) in DIVIDES.items():
        if (getattr(asked, option) or 1) > 1 and getattr(used.habits, habit) == "none":
            fact = f"archcalc does not know {what} by {used.name} code"
            raise InputError(fact, f"add --code megatron, or leave {flag_of(option)} out", field=flag_of(option))
    known = said(asked, used)
    for rule in used.refused:
        if rule.holds(known):
            raise InputError(rule.about, rule.hint or f"leave {flag_of(rule.first)} out", field=flag_of(rule.first))


def unmeasured_ops(root: Module, used: Code) -> Iterator[Assumption]:
    """What of the model no run has that the library was compared with."""
    kinds = dict.fromkeys(op.kind for op in ops_in(root) if op.traits.allocates)
    others = [kind.replace("_", " ") for kind in kinds if kind not in used.measured_kinds]
    if used.measured_kinds and others:
        text = f"estimate: no measured run of {used.name} has {', '.join(others)}"
        yield Assumption(Topic.ESTIMATE, text)


def said(asked: Options, used: Code) -> dict[str, Any]:
    """Options, habits and layers in one table, of an option that is also a habit's name, the option; whether the model
    is a `mixture`, and whether the weights are `quantised`."""
    holder: type = type(asked)
    options = {name for name, _ in declared(holder)}
    every = {**vars(used.habits), **dict(used.layers), MIXTURE: used.facts.has_experts}
    chosen = {name: choice for name, choice in every.items() if name not in options}
    return chosen | asked.given | {QUANTISED: asked.weights is not None and weight_format(asked.weights).is_quantised}
