"""What a case changes of a traced model: stage, adapters, the loss, layers as the training code has them, sequence."""

from __future__ import annotations

from archcalc.core.precision import BYTES
from archcalc.run import lora, sequence_parallel
from archcalc.run.case import Case
from archcalc.run.code.lowering import Lowering
from archcalc.run.code.parameters import own_parameters
from archcalc.run.code.shards import gather_again
from archcalc.run.traces import Change


def changes_of(case: Case) -> tuple[Change, ...]:
    """In the order in which they are made."""
    found = list[Change]([case.stage.cut] if case.stage else [])
    if case.trains:
        found.extend(own_parameters(case.code.habits))
    if case.lora:
        found.append(lora.Lora(case.lora, case.lora_targets))
    if case.trains:
        found.extend(_of_training(case))
    if case.plan.sp:
        found.append(sequence_parallel.split_sequence)
    if case.plan.sp and case.code.habits.gathered == "again":
        found.append(gather_again)
    return tuple(found)


def _of_training(case: Case) -> list[Change]:
    """The loss in fp32, and the layers as the training code writes them."""
    found = list[Change]()
    casts = case.compile != "all" or case.code.habits.model_casts_logits(case.loss_chunks)
    casts = casts and not case.code.habits.overwrites_logits
    if casts and BYTES[case.activations] < BYTES["fp32"]:
        found.append(lora.widen_loss)
    if not case.code.is_plain and case.recipe and case.recipe.name != "autocast":
        found.append(_lowering(case))
    return found


def _lowering(case: Case) -> Lowering:
    return Lowering(
        case.code.habits,
        narrow=BYTES[case.activations] < BYTES["fp32"],
        is_compiled=case.compile != "none",
        compiles_loss=case.compile == "all",
        loss_chunks=case.loss_chunks,
        facts=case.code.facts,
        plan=case.plan,
        is_recomputed=case.recompute == "block",
    )
