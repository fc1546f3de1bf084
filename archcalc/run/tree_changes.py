"""What a run changes in the traced model: adapters, the loss, a library's code, sequence parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.ir import Module
from archcalc.core.precision import BYTES
from archcalc.network import Network
from archcalc.run import lora, sequence_parallel
from archcalc.run.autocast import Autocast
from archcalc.run.code.lowering import Lowering
from archcalc.run.code.parameters import own_parameters
from archcalc.run.code.shards import gather_again
from archcalc.run.code.whole_logits import gather_logits
from archcalc.run.method_loss import TokenLogProbabilities
from archcalc.run.methods import returns_fp32
from archcalc.run.number_formats import Weights
from archcalc.run.resolved import Run
from archcalc.spec.traces import Change
from archcalc.spec.workload import Workload


def traced(model: Network, run: Run, work: Workload) -> Module:
    """The model as the run computes it: with its adapters, its loss and its code, of one GPU's part of the sequence."""
    part = sequence_parallel.one_part(run.method.of_step(work), run.plan.cp)
    return model.build(part, tuple(tree_changes(run)))


def tree_changes(run: Run) -> Iterator[Change]:
    """In the order in which they are made."""
    yield from parameter_changes(run)
    if run.plan.tp > 1 and run.code.habits.parallel_head == "gathered":
        yield gather_logits
    yield from _of_loss(run)
    yield from _of_code(run)
    if run.plan.sp:
        yield sequence_parallel.split_sequence
    if run.plan.sp and run.code.habits.gathered == "again":
        yield gather_again


def parameter_changes(run: Run) -> Iterator[Change]:
    """Those that decide which parameters there are."""
    if run.stage:
        yield run.stage.cut
    if _is_lowered(run):
        yield from own_parameters(run.code.habits)
    if run.trains and run.lora:
        yield lora.Lora(run.lora, run.lora_targets)


def _is_lowered(run: Run) -> bool:
    """Whether layers are the training code's."""
    return run.recipe is not None and not run.code.is_plain


def _of_code(run: Run) -> Iterator[Change]:
    """Its layers; under autocast they ask for the number formats of what they read, and are cast op by op."""
    lowering = [_lowering(run)] if _is_lowered(run) else []
    if not run.recipe or not run.recipe.autocast:
        yield from lowering
        return
    weights = Weights(run.recipe, run.format, adapted=bool(run.lora), frozen=run.freeze)
    if lowering:
        yield Autocast(weights, run.code.habits.rms_norm, casts=False)
    yield from lowering
    yield Autocast(weights)


def _of_loss(run: Run) -> Iterator[Change]:
    """A method's own loss, or a loss that is computed in fp32."""
    narrow = BYTES[run.activations] < BYTES["fp32"]
    if run.recipe and run.method.reads_tokens:
        wide = returns_fp32(run.recipe)
        yield TokenLogProbabilities(wide, cast=wide and narrow)
        return
    casts = run.compile != "all" or run.code.habits.model_casts_logits(run.loss_chunks)
    casts = casts and not run.code.habits.overwrites_logits
    if run.trains and casts and narrow:
        yield lora.widen_loss


def _lowering(run: Run) -> Lowering:
    """The layers as the training code writes them, and its loss unless the method has its own."""
    narrow, habits = BYTES[run.activations] < BYTES["fp32"], run.code.habits
    if run.method.reads_tokens:
        habits = replace(habits, loss="fp32")
    if habits.adapters == "fp32" and run.recipe and BYTES[run.recipe.weights] < BYTES["fp32"]:
        habits = replace(habits, adapters="narrow")
    return Lowering(
        habits,
        narrow=narrow,
        is_compiled=run.compile != "none",
        compiles_loss=run.compile == "all",
        loss_chunks=run.loss_chunks,
        facts=run.code.facts,
        plan=replace(run.plan, dp=1, zero=0),  # groups with batches of their own run the same layers
        is_recomputed=run.recompute == "block",
    )
