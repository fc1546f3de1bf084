"""What an answer rests on: the comparison with the code that runs, and measured runs of its class. Never mixed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.network import Network
from archcalc.run.accuracy import Band, band, not_compared
from archcalc.run.code.library import TRANSFORMERS
from archcalc.run.compared import Compared, compared
from archcalc.run.resolved import Run


@dataclass(frozen=True)
class Claims:
    """`with_code`: how far the bytes of tensors were from those of the real class; `measured`: how far answers were
    from what people measured on GPUs. None where nothing was compared."""

    with_code: Compared | None
    measured: Band | None

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        found = {"compared_with_code": self.with_code, "measured_on_gpus": self.measured}
        return {name: claim.record() if claim else None for name, claim in found.items()}


NOTHING_CLAIMED = Claims(None, None)


def claims_of(run: Run, model: Network) -> Claims:
    return Claims(_with_code(run, model), band(run))


def claim_notes(run: Run, claims: Claims) -> Iterator[Assumption]:
    """A sentence for each."""
    if claims.with_code:
        under = "without autocast, its step " if run.recipe and run.recipe.autocast else "the step "
        yield Assumption(Topic.ESTIMATE, f"{under}{claims.with_code.sentence()}", claims.with_code.class_name)
    yield claims.measured.assumption() if claims.measured else not_compared(run)


def _with_code(run: Run, model: Network) -> Compared | None:
    """Of training by transformers' classes: in bf16 and fp32, with checkpointing, with adapters."""
    if not run.trains or run.code.name != TRANSFORMERS or run.format.is_quantised:
        return None
    precision = "fp32" if run.activations == "fp32" else "bf16"
    return compared(model.model_type, precision, recompute=run.recompute == "block", lora=bool(run.lora))
