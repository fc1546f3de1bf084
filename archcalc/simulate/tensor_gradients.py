"""Gradients of tensors on their way back: made, shared, added up and dropped as autograd's engine does it."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.simulate.events import Block
from archcalc.simulate.ledger import Ledger
from archcalc.simulate.nodes import Cell, Step
from archcalc.simulate.schedule import Schedule


@dataclass
class Gradient:
    """One storage; several tensors may share it."""

    block: Block
    users: int = 1


class TensorGradients:
    """The gradients that wait for the op that made their tensor."""

    def __init__(self, schedule: Schedule, ledger: Ledger) -> None:
        self.schedule, self.ledger = schedule, ledger
        self.waiting: dict[Cell, Gradient] = {}
        self.views: set[Cell] = set()  # those whose gradient is a view of what another op made
        self.held: list[Gradient] = []  # those of which a parameter's is a part

    def make(self, step: Step, wanted: Cell, overwritten: Block | None = None) -> Gradient | None:
        """An input's gradient, if it has yet to be added to one that waits; perhaps written over the input."""
        traits, size = step.op.traits, self.schedule.gradient_bytes
        arriving = self.waiting.get(step.output)
        same_size = traits.passes_gradient and size(wanted) == size(step.output)
        is_shared = arriving is not None and (traits.divides_gradient or same_size)
        if arriving and is_shared:
            found = arriving
            found.users += 1
        else:
            found = Gradient(overwritten) if overwritten else self._new(wanted)
        if wanted in self.waiting:
            return found
        self.waiting[wanted] = found
        if traits.gradient_is_view(step.op) or (is_shared and step.output in self.views):
            self.views.add(wanted)
        return None

    def computed_wide(self, step: Step, wanted: Cell) -> Block | None:
        """An op that gives out fp32 for a narrower input computes its gradient in fp32, and the engine casts that."""
        if not step.op.traits.promotes:
            return None
        wide, narrow = (self.schedule.gradient_bytes(cell) for cell in (step.output, wanted))
        is_whole = int(wanted.tensor.size) == int(step.op.output.size)
        return self.ledger.allocate("temporary", wide) if is_whole and narrow < wide else None

    def hold(self, step: Step) -> bool:
        """The gradient of what an op made, until the optimizer's step is done."""
        arriving = self.waiting.get(step.output)
        if arriving:
            arriving.users += 1
            self.held.append(arriving)
        return bool(arriving)

    def add(self, wanted: Cell, made: Gradient | None) -> None:
        """In place, unless someone else holds the sum too: then it takes a storage of its own.

        Source: PyTorch, torch/csrc/autograd/input_buffer.cpp, accumulate. A view holds what it is a view of."""
        there = self.waiting.get(wanted)
        if made and there and (there.users > 1 or wanted in self.views):
            self.waiting[wanted] = self._new(wanted)
            self.views.discard(wanted)
            self.drop(there)
        self.drop(made)

    def free(self, step: Step) -> None:
        """The gradients of what the op made."""
        for cell in (*step.results, *step.copies):
            self.views.discard(cell)
            self.drop(self.waiting.pop(cell, None))

    def drop(self, gradient: Gradient | None) -> None:
        """One user fewer; the last one frees the storage."""
        if gradient:
            gradient.users -= 1
            if not gradient.users:
                self.ledger.free(gradient.block)

    def _new(self, wanted: Cell) -> Gradient:
        part = "logits" if wanted in self.schedule.logits else "temporary"
        return Gradient(self.ledger.allocate(part, self.schedule.gradient_bytes(wanted)))
