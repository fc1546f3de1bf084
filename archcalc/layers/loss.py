"""The training loss, recorded in a separate section: it is not a row among the model's layers."""

from __future__ import annotations

from archcalc.core.ir import Module, Region, Tensor


def cross_entropy(root: Module, logits: Tensor, targets: Tensor | None = None) -> Tensor:
    """The mean negative log-probability of one target for each row of logits."""
    targets = targets or Tensor(logits.axes[:-1], "index")
    return root.style.loss(root.section(Region.LOSS), logits, targets)


def squared_error(root: Module, output: Tensor, target: Tensor) -> Tensor:
    """The mean squared difference."""
    return root.section(Region.LOSS).record("squared_error", output, target, to=())
