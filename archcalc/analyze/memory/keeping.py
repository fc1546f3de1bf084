"""How the parameters of a model are stored in one run, and which of them are trained."""

from __future__ import annotations

from archcalc.analyze.memory.states import Keeping
from archcalc.core.execution import Trainable, never
from archcalc.core.ir import Module
from archcalc.network import Network
from archcalc.run import lora
from archcalc.run.resolved import Run
from archcalc.storage.places import facts


def keeping_of(model: Network, tree: Module, run: Run) -> Keeping:
    """`tree` is the model as it was traced for the run."""
    rest = run.format.rest or (run.recipe.of_frozen if run.recipe else run.activations)
    fused = getattr(model.spec, "fused_qkv", False)  # of transformers alone
    known, as_stored = facts(tree, fused_qkv=fused), "weights" not in run.said
    trainable: Trainable = never
    if run.trains:
        trainable = lora.is_adapter if run.lora else lora.all_but(tree, run.freeze)
    return Keeping(run.plan, run.format, rest, trainable, run.recipe, run.optimizer, known, as_stored)
