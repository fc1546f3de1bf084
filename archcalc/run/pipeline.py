"""Stages of a pipeline: consecutive layers, with the embedding on the first stage and the head on the last.

    for stage in stages(family, resolved, 4):
        stage.resolved                      the model with the layers of that stage
        stage.cut                           a change to its tree: what enters is received, what leaves is sent

A table that embedding and head share is on both. By the schedule of one forward pass and one backward pass in turns,
stage r of n begins the forward pass of n − r micro-batches before its first backward pass.
Source: Megatron-LM, megatron/core/transformer/transformer_block.py and pipeline_parallel/schedules.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.archs import family_module
from archcalc.core.budget import Budget
from archcalc.core.divisors import divisors
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Op, Param, Region, Tensor, axes, walk
from archcalc.core.tree import ops_in
from archcalc.spec.resolved import Resolved

MOST_STAGES = 500  # each is counted; training reports name dozens


@dataclass(frozen=True)
class Cut:
    """Takes away what other stages hold: a change that `Model.build` takes."""

    is_first: bool
    is_last: bool

    def __call__(self, root: Module) -> None:
        stack = _with_blocks(root)[0]
        place, blocks = root.body.index(stack), _with_blocks(stack)
        (entering, _), (_, leaving) = blocks[0].carries[0], blocks[-1].carries[0]
        _check_alike(stack, blocks[0])
        if not self.is_last:
            behind = stack.body.index(blocks[-1]) + 1
            _take_away([*stack.body[behind:], *root.body[place + 1 :]])
            root.body[place + 1 :] = [Op("send", (leaving,), Tensor(axes(), "none"))]
            del stack.body[behind:]
        if not self.is_first:
            _take_away(root.body[:place])
            root.body[:place] = [Op("receive", (), entering.storage)]
        # of modules without ops, only what is read elsewhere stays: a table that the head shares
        read = {tensor.storage for op in ops_in(root) for tensor in op.inputs}
        for module in (module for module, _ in walk(root) if not module.body):
            for name in [name for name, param in module.params.items() if param not in read]:
                del module.params[name]


@dataclass(frozen=True)
class Stage:
    number: int  # from 0
    stages: int
    first: int  # layer
    last: int  # layer, not included
    resolved: Resolved

    @property
    def cut(self) -> Cut:
        return Cut(self.number == 0, self.number == self.stages - 1)

    def in_flight(self, micro_batches: int) -> int:
        """Micro-batches of which the activations are kept at a time."""
        return min(self.stages - self.number, micro_batches)

    def about(self, micro_batches: int) -> str:
        ends = [("the embedding", self.number == 0), ("the head", self.number == self.stages - 1)]
        several = self.last - self.first > 1
        layers = f"layers {self.first + 1} to {self.last}" if several else f"layer {self.last}"
        held = [layers, *(what for what, is_here in ends if is_here)]
        number = self.in_flight(micro_batches)
        kept = f"{number} micro-batches" if number > 1 else "one micro-batch"
        return f"stage {self.number + 1} of {self.stages} needs the most: {' and '.join(held)}, {kept} in flight"


def stages(family: str, resolved: Resolved, number: int) -> list[Stage]:
    """Equally many layers each, as Megatron-LM wants it."""
    module: Any = family_module(family)
    if not hasattr(module, "between"):
        fact = f"archcalc does not divide a {family} model among pipeline stages"
        raise InputError(fact, "leave --pp out", field="--pp")
    layers: int = module.layers(resolved)
    if layers % number:
        possible = [str(size) for size in divisors(layers) if size > 1]
        hint = f"--pp may be {', '.join(possible)}" if possible else "leave --pp out"
        raise InputError(f"{layers:,} layers cannot be divided among {number:,} stages", hint, field="--pp")
    Budget("pipeline stages", MOST_STAGES, "name fewer", field="--pp").spend(number)
    each = layers // number
    bounds = [(place * each, (place + 1) * each) for place in range(number)]
    return [Stage(place, number, *ends, module.between(resolved, *ends)) for place, ends in enumerate(bounds)]


def _with_blocks(above: Module) -> list[Module]:
    """The modules in its body that are blocks or have some."""
    modules = (item for item in above.body if isinstance(item, Module))
    return [module for module in modules if any(inner.region == Region.BLOCK for inner, _ in walk(module))]


def _check_alike(stack: Module, first: Module) -> None:
    """Weights that all layers share would be on every stage."""
    ops = (
        op
        for item in stack.body[: stack.body.index(first)]
        for op in ([item] if isinstance(item, Op) else ops_in(item))
    )
    if any(isinstance(tensor.storage, Param) for op in ops for tensor in op.inputs):
        where = "would be on every pipeline stage: archcalc has no rule"
        fact = f"weights that all layers of the {stack.name} share {where}"
        raise InputError(fact, "leave --pp out", field="--pp")


def _take_away(items: list[Op | Module]) -> None:
    for item in items:
        for module in [module for module, _ in walk(item)] if isinstance(item, Module) else ():
            module.body.clear()
            module.buffers.clear()
