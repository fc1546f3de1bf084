"""The activations that a training step saves for its backward pass, read off the schedule that `memory` simulates.

saved = saved_activations(root, "bf16", recompute="block")
saved.bytes                 distinct storages, parameters left out, as PyTorch's saved-tensor hooks see them
saved.of(module).bytes      the share that the ops of one module, and below it, are the first to save
saved.entries               storage by storage: tensor, module, how often
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from archcalc.core.execution import Trainable, by_spec
from archcalc.core.ir import Module, Tensor
from archcalc.core.precision import Policy
from archcalc.simulate.build import schedule
from archcalc.simulate.passes.checkpointing import checkpoint
from archcalc.simulate.schedule import Saved


@dataclass(frozen=True)
class Activations:
    """The activations saved between the forward and the backward pass."""

    entries: tuple[Saved, ...]

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.entries)

    def of(self, module: Module) -> Activations:
        """The tensors that ops of this module or below it are the first to save."""
        return Activations(tuple(one for one in self.entries if module in one.module.ancestry))

    def among(self, tensors: Iterable[Tensor]) -> Activations:
        """Those that are some of these tensors."""
        wanted = set(tensors)
        return Activations(tuple(one for one in self.entries if one.cell.tensor in wanted))


def saved_activations(
    root: Module, precision: str, *, trainable: Trainable = by_spec, recompute: str = "none"
) -> Activations:
    """On one GPU, all of the model in one precision. `recompute` is none, core, block or ops."""
    policy = Policy(precision)

    def size(tensor: Tensor, module: Module) -> int:
        return int(tensor.size) * policy.bytes_of(tensor.role)

    return Activations(
        tuple(schedule(root, policy, trainable, size, [partial(checkpoint, recompute=recompute)]).saved())
    )
