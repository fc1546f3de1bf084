"""How the parameters of a model are stored in one case, and which of them are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.analyze.memory.states import Keeping
from archcalc.core.execution import Trainable, never
from archcalc.core.ir import Module
from archcalc.run import lora
from archcalc.run.case import Case
from archcalc.storage.places import facts

if TYPE_CHECKING:
    from archcalc.model import Model


def keeping_of(model: Model, tree: Module, case: Case) -> Keeping:
    """`tree` is the model as it was traced for the case."""
    rest = case.format.rest or (case.recipe.of_frozen if case.recipe else case.activations)
    fused = getattr(model.spec, "fused_qkv", False)  # of transformers alone
    known, as_stored = facts(tree, fused_qkv=fused), "weights" not in case.said
    recipes = case.recipe, case.optimizer
    return Keeping(case.plan, case.format, rest, _trainable(tree, case), *recipes, known, as_stored)


def _trainable(tree: Module, case: Case) -> Trainable:
    if not case.trains:
        return never
    return lora.is_adapter if case.lora else lora.all_but(tree, case.freeze)
