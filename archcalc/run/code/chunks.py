"""A few positions at a time: parts of a sequence, and the ops of a layer for one of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from archcalc.core.ir import Axes, Dim, Module, ModuleGroup, Op, Region, Tensor, axes, walk
from archcalc.core.positions import Positions

HeadAndLoss = tuple[Module, Module]


def head_and_loss(root: Module) -> HeadAndLoss | None:
    """The one head over a vocabulary, and the section of its loss."""
    heads = [module for module in root.children if module.group == ModuleGroup.HEAD]
    losses = [module for module, _ in walk(root) if module.region == Region.LOSS]
    if len(heads) != 1 or len(losses) != 1 or not any(op.traits.reads_logits for op in losses[0].ops):
        return None
    return heads[0], losses[0]


def log_likelihood(logits: Tensor, targets: Tensor) -> list[Op]:
    """Cross-entropy as PyTorch computes it: log_softmax, then nll_loss."""
    logarithms, mean = Tensor(logits.axes, logits.role), Tensor(axes(), logits.role)
    weight = {"total_weight": Tensor(axes(), logits.role)}
    return [Op("log_softmax", (logits,), logarithms), Op("nll_loss", (logarithms, targets), mean, beside=weight)]


def sequence(tensor: Tensor) -> Dim:
    return next(dim for dim in tensor.dims if dim.positions is Positions.SEQUENCE)


def divided(whole: Dim, length: int) -> Iterator[Dim]:
    """Chunks of so many positions; the last one may be shorter."""
    for start in range(0, int(whole.size), length):
        yield Dim.of("chunk", min(length, int(whole.size) - start), positions=whole.positions)


class Chunk:
    """A part of a sequence."""

    def __init__(self, size: Dim) -> None:
        self.size = size
        self.tensors: dict[Tensor, Tensor] = {}

    def part(self, whole: Tensor) -> Op:
        """The same positions of a tensor, seen where they are."""
        found = self.tensors[whole] = whole.seen_as(*self._axes(whole))
        return Op("slice", (whole,), found)

    def copy(self, op: Op) -> Op:
        """The op for these positions alone."""
        inputs = tuple(self._read(tensor) for tensor in op.inputs)
        output = self.tensors[op.output] = self._like(op.output)
        beside = {name: self._like(one) for name, one in op.beside.items()}
        return replace(op, inputs=inputs, output=output, beside=beside)

    def _read(self, tensor: Tensor) -> Tensor:
        """Targets, which no op makes, are divided too."""
        return self._like(tensor) if tensor.role == "index" else self.tensors.get(tensor, tensor)

    def _like(self, tensor: Tensor) -> Tensor:
        return Tensor(self._axes(tensor), tensor.role)

    def _axes(self, tensor: Tensor) -> Axes:
        return tuple(tuple(self._dim(dim) for dim in axis) for axis in tensor.axes)

    def _dim(self, dim: Dim) -> Dim:
        return self.size if dim.positions is Positions.SEQUENCE else dim
