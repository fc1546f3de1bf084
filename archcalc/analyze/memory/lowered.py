"""The layers of a model as a case's training code writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.core.precision import BYTES
from archcalc.run.code.lowering import Lowering

if TYPE_CHECKING:
    from archcalc.run.case import Case


def lowering(case: Case) -> Lowering:
    """What the code, its compiler and its checkpointing make of them."""
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
