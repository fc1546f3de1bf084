"""The order of execution: every op, how often it runs, and which of its tensors require a gradient.

    for run in runs(root):            # training: every trainable parameter wants a gradient
        run.op, run.module, run.times, run.wants(tensor)

A repeated module is visited once, or a few times where its first runs differ from the later ones: the first step of a
recurrent net reads a state that wants no gradient, every later step reads one that does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from archcalc.core.count import Count
from archcalc.core.ir import Module, Op, Param, Region, Tensor
from archcalc.core.precision import Policy
from archcalc.core.recomputation import is_recomputed, results

Trainable = Callable[[Param], bool]


def by_spec(param: Param) -> bool:
    """Train every parameter that the spec trains: all but fixed ones such as stored sinusoids."""
    return param.trainable


def never(param: Param) -> bool:
    """Inference: nothing wants a gradient."""
    return False


@dataclass
class Gradients:
    """Which tensors require a gradient, derived from the ops visited so far."""

    trainable: Trainable = by_spec
    known: dict[Tensor, bool] = field(default_factory=dict)

    def wants(self, tensor: Tensor) -> bool:
        """Model inputs declare it, parameters require a gradient if trained, results if one of their inputs does."""
        storage = tensor.storage
        if tensor.stops:
            return False
        if storage in self.known:
            return self.known[storage]
        return self.trainable(storage) if isinstance(storage, Param) else storage.grad

    def follow(self, op: Op) -> None:
        """Visit an op: its results require a gradient iff one of its inputs does, or if it is a leaf."""
        traits = op.traits
        if not traits.view:
            beside = op.beside.values() if traits.part or traits.gives_beside else ()
            wanted = traits.leaf or any(map(self.wants, op.inputs))
            self.known.update(dict.fromkeys((op.output, *beside), wanted))


class Run(NamedTuple):
    """An op, and how often it runs alike.

    `again` says that the backward pass computes it a second time; `within`, that a kernel does so going back, since it
    kept nothing that it made.
    """

    op: Op
    module: Module
    times: Count
    wanting: frozenset[Tensor]
    again: bool = False
    within: bool = False

    def wants(self, tensor: Tensor) -> bool:
        """Whether this tensor of the op requires a gradient."""
        return tensor.storage in self.wanting


def runs(
    module: Module, *, trainable: Trainable = by_spec, recompute: str = "none", known: Gradients | None = None
) -> list[Run]:
    """Every op of a model in order. `recompute` is the activation checkpointing: none, core, block or ops; `known` is
    what ops before the module want. A module is visited until its next run starts with the same inputs requiring a
    gradient as this one."""
    gradients = known or Gradients(trainable)
    given = {into.storage: gradients.wants(into) for into, _ in module.carries}
    found, left = list[Run](), module.runs
    while left:
        once = _one_run(module, gradients, recompute)
        if is_recomputed(module, recompute):
            once = _recomputed(once, {result.op for result in results(module, recompute)})
        if module.region == Region.KERNEL:
            once = [run._replace(again=False, within=run.again) for run in _recomputed(once, set())]
        is_settled = all(gradients.wants(into) == gradients.wants(out) for into, out in module.carries)
        times = left if is_settled else Count(1)
        left = Count(0) if is_settled else Count(int(left) - 1)
        for into, out in module.carries:  # what this run made replaces the state that it was given
            gradients.known[into.storage] = gradients.wants(out)
        found += once if times == 1 and times.is_plain else [run._replace(times=times * run.times) for run in once]
    gradients.known.update(given)
    return found


def _one_run(module: Module, gradients: Gradients, recompute: str) -> list[Run]:
    found: list[Run] = []
    for item in module.body:
        if isinstance(item, Module):
            found.extend(runs(item, recompute=recompute, known=gradients))
        else:
            gradients.follow(item)
            wanting = frozenset([tensor.storage for tensor in (*item.inputs, item.output) if gradients.wants(tensor)])
            found.append(Run(item, module, Count(1), wanting))
    return found


def _recomputed(once: list[Run], kept: set[Op]) -> list[Run]:
    """PyTorch's checkpointing stops as soon as the last tensor that the backward pass needs is there again.

    An op saves its inputs before it computes, so an op that saves nothing else is not itself recomputed. Nor is one
    whose result was saved.
    """
    keeping = [index for index, run in enumerate(once) if _kept(run)]
    last = keeping[-1] if keeping else 0
    made = bool(keeping) and any(tensor not in once[last].op.inputs for tensor in _kept(once[last]))
    return [run._replace(again=index < last + made and run.op not in kept) for index, run in enumerate(once)]


def _kept(run: Run) -> list[Tensor]:
    return list(run.op.traits.saves(run.op, run.wants, Policy()))
