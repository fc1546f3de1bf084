"""What an answer rests on: the comparison with the code that runs, and measured runs of its class. Never mixed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from archcalc.network import Network
from archcalc.run.accuracy import Band, Compared, band, bands, compared
from archcalc.run.code.library import TRANSFORMERS
from archcalc.run.resolved import Run


@dataclass(frozen=True)
class Claims:
    """`with_code`: how far the bytes of tensors were from those of the real class; `measured`: how far answers were
    from what people measured on GPUs. None where nothing was compared."""

    with_code: Compared | None
    measured: Band | None
    of_figures: dict[str, float] = field(default_factory=dict)  # of training, by figure

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        found = {"compared_with_code": self.with_code, "measured_on_gpus": self.measured}
        return {name: claim.record() if claim else None for name, claim in found.items()}


NOTHING_CLAIMED = Claims(None, None)


def claims_of(run: Run, model: Network, parts: dict[str, int]) -> Claims:
    """With code: training by transformers' classes, in bf16 and fp32, with checkpointing, with adapters. `parts` are
    the bytes of the peak."""
    with_code = None
    if run.trains and run.code.name == TRANSFORMERS and not run.format.is_quantised:
        precision = "fp32" if run.activations == "fp32" else "bf16"
        with_code = compared(model.model_type, precision, recompute=run.recompute == "block", lora=bool(run.lora))
    return Claims(with_code, band(run, lambda: parts), bands(run))
