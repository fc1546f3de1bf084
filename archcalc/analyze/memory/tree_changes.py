"""What a case changes about the traced model: adapters, the loss, a library's code, sequence parallelism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.precision import BYTES
from archcalc.run import lora, sequence_parallel
from archcalc.run.autocast import Autocast
from archcalc.run.case import Case
from archcalc.run.code.lowering import Lowering
from archcalc.run.code.parameters import own_parameters
from archcalc.run.code.shards import gather_again
from archcalc.run.code.whole_logits import gather_logits
from archcalc.run.method_loss import TokenLogProbabilities
from archcalc.run.methods import returns_fp32
from archcalc.run.number_formats import Weights
from archcalc.run.traces import Change


def tree_changes(case: Case) -> Iterator[Change]:
    """In the order in which they are made."""
    if case.stage:
        yield case.stage.cut
    if _is_lowered(case):
        yield from own_parameters(case.code.habits)
    if case.trains and case.lora:
        yield lora.Lora(case.lora, case.lora_targets)
    if case.plan.tp > 1 and case.code.habits.parallel_head == "gathered":
        yield gather_logits
    yield from _of_loss(case)
    yield from _of_code(case)
    if case.plan.sp:
        yield sequence_parallel.split_sequence
    if case.plan.sp and case.code.habits.gathered == "again":
        yield gather_again


def _is_lowered(case: Case) -> bool:
    """Whether layers are the training code's."""
    return case.recipe is not None and not case.code.is_plain


def _of_code(case: Case) -> Iterator[Change]:
    """Its layers; under autocast they ask for the number formats of what they read, and are cast op by op."""
    lowering = [_lowering(case)] if _is_lowered(case) else []
    if not case.recipe or not case.recipe.autocast:
        yield from lowering
        return
    weights = Weights(case.recipe, case.format, adapted=bool(case.lora), frozen=case.freeze)
    if lowering:
        yield Autocast(weights, case.code.habits.rms_norm, casts=False)
    yield from lowering
    yield Autocast(weights)


def _of_loss(case: Case) -> Iterator[Change]:
    """A method's own loss, or a loss that is computed in fp32."""
    narrow = BYTES[case.activations] < BYTES["fp32"]
    if case.recipe and case.method.reads_tokens:
        wide = returns_fp32(case.recipe)
        yield TokenLogProbabilities(wide, cast=wide and narrow)
        return
    casts = case.compile != "all" or case.code.habits.model_casts_logits(case.loss_chunks)
    casts = casts and not case.code.habits.overwrites_logits
    if case.trains and casts and narrow:
        yield lora.widen_loss


def _lowering(case: Case) -> Lowering:
    """The layers as the training code writes them, and its loss unless the method has its own."""
    narrow, habits = BYTES[case.activations] < BYTES["fp32"], case.code.habits
    if case.method.reads_tokens:
        habits = replace(habits, loss="fp32")
    if habits.adapters == "fp32" and case.recipe and BYTES[case.recipe.weights] < BYTES["fp32"]:
        habits = replace(habits, adapters="narrow")
    return Lowering(
        habits,
        narrow=narrow,
        is_compiled=case.compile != "none",
        compiles_loss=case.compile == "all",
        loss_chunks=case.loss_chunks,
        facts=case.code.facts,
        plan=case.plan,
        is_recomputed=case.recompute == "block",
    )
