"""What single ops allocate and free, going forward and going back.

Gradients of tensors are made, shared, added up and dropped as autograd's engine does it; those of parameters are in
`archcalc.simulate.parameter_gradients`.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from archcalc.simulate.events import Block, Ledger
from archcalc.simulate.nodes import Cell, Group, ParamCopy, Step
from archcalc.simulate.parameter_gradients import ParameterGradients
from archcalc.simulate.schedule import Schedule


@dataclass
class Gradient:
    """One storage; several tensors may share it."""

    block: Block
    users: int = 1


@dataclass
class OpMemory:
    """The live tensors at one instant of a step, and the gradients that wait for others."""

    schedule: Schedule
    ledger: Ledger
    trained: ParameterGradients
    savers: dict[Cell, list[int]]  # of each tensor, those that have yet to go back
    alive: dict[Cell, Block] = field(default_factory=dict)
    weight_copies: dict[ParamCopy, Block] = field(default_factory=dict)  # by the number of the step
    replayed: set[int] = field(default_factory=set)  # steps that go back with recomputed tensors
    last_needed: dict[int, Group] = field(default_factory=dict)  # blocks by the last step that needs their inside
    gradients: dict[Cell, Gradient] = field(default_factory=dict)  # that wait for the op that made their tensor
    views: set[Cell] = field(default_factory=set)  # those whose gradient is a view of what another op made
    held: list[Gradient] = field(default_factory=list)  # until the optimizer's step: a parameter's is a part of each

    def compute(self, step: Step, staying: Container[Cell], *, is_recomputed: bool = False) -> None:
        """Make what the op makes; whatever does not stay goes with the last op that reads it."""
        ledger, schedule = self.ledger, self.schedule
        self._copy_weights(step)
        touched = (*step.reads, *step.makes)
        scratch = [ledger.allocate(schedule.unread, size) for size in step.scratch]
        for cell in touched:
            self.allocate(cell, cell in staying)
        ledger.free(*scratch)
        if step.log_probabilities:
            ledger.for_a_moment("logits", schedule.logits_copies * schedule.bytes[step.log_probabilities])
        ledger.for_a_moment("temporary", step.gathered_keys)
        for copy in step.weight_copies:
            if not (copy.is_cached or (copy.is_saved and not is_recomputed)):
                ledger.free(self.weight_copies.pop((copy.param, step.number), None))
        passing = [cell for cell in touched if cell not in staying]
        self.free(*(cell for cell in passing if schedule.last_read[cell] <= step.number))

    def differentiate(self, step: Step) -> None:
        """Make gradients, free what the op needed for them, and only then add them to others."""
        ledger, schedule = self.ledger, self.schedule
        self._copy_weights(step)
        of_loss = None
        if step.log_probabilities:  # goes back through the mean, then through the log-probabilities
            size = schedule.bytes[step.log_probabilities] * (1 + schedule.logits_copies)
            of_loss = ledger.allocate("logits", size)
        ledger.for_a_moment("temporary", 2 * step.gathered_keys)  # and the gradients of all of them
        scratch = [ledger.allocate("temporary", size) for size in step.gradient_scratch if step.grads]
        wide = self._computed_wide(step) if step.op.traits.gradient.promotes else {}
        at_once, later = self._order(step, wide)
        made = [(one, self._gradient(step, one, wide)) for one in at_once]
        if later:
            self._free_saved(step)
        made.extend((one, self._gradient(step, one, wide)) for one in later)
        ledger.free(*scratch, of_loss)
        for copy in step.weight_copies:
            ledger.free(self.weight_copies.pop((copy.param, step.number), None))
        if step.is_leaf:
            self._hold(step)
        for cell in (step.output, *step.aux_outputs.values(), *step.copies):
            self.views.discard(cell)
            self.drop(self.gradients.pop(cell, None))
        self._free_saved(step)
        for wanted, gradient in made:
            if isinstance(wanted, Cell):
                assert not isinstance(gradient, Block)
                self._add(wanted, gradient)
            else:
                assert not isinstance(gradient, Gradient)
                self.trained.add(step, wanted, gradient)

    # tensors

    def allocate(self, cell: Cell, stays: bool) -> None:
        if cell not in self.alive:
            part = self.schedule.part(cell, stays)
            self.alive[cell] = self.ledger.allocate(part, self.schedule.bytes[cell], what=cell.tensor)

    def free(self, *cells: Cell) -> None:
        for cell in cells:
            if cell in self.alive and cell not in self.schedule.outliving:
                self.ledger.free(self.alive.pop(cell))

    def free_inputs(self, group: Group) -> None:
        for cell in (*group.reads, *group.results):
            if min(self.savers[cell], default=group.first) == group.first:
                self.free(cell)

    def _free_saved(self, step: Step) -> None:
        """Saved tensors after their last reader; after the last one of a recomputed block, its inputs too."""
        self.free(*(cell for cell in step.saves if min(self.savers[cell]) == step.number))
        group = self.last_needed.pop(step.number, None)
        if group:
            self.free_inputs(group)

    def _copy_weights(self, step: Step) -> None:
        """For a matrix product, unless the copies still exist."""
        for copy in step.weight_copies:
            if (copy.param, step.number) not in self.weight_copies:
                self.weight_copies[copy.param, step.number] = self.ledger.allocate(copy.part, copy.bytes)

    # gradients

    def _computed_wide(self, step: Step) -> dict[Cell, Block]:
        """An op that gives out fp32 for a narrower input computes its gradient in fp32, and the engine casts that."""
        size, found = self.schedule.gradient_bytes, dict[Cell, Block]()
        for one in step.grads:
            is_whole = isinstance(one, Cell) and int(one.tensor.size) == int(step.op.output.size)
            if isinstance(one, Cell) and is_whole and size(one) < size(step.output):
                found[one] = self.ledger.allocate("temporary", size(step.output))
        return found

    def _order(self, step: Step, wide: dict[Cell, Block]) -> tuple[list[ParamCopy | Cell], ...]:
        """Gradients that the op computes, those that are cast last, and those that the engine finishes behind it.

        Of what was broadcast the engine sums the gradient behind the op, and of what is narrower it casts it; the op
        holds a tensor that was recomputed no longer than it needs it. A parameter's gradient that is a part of the
        arriving one needs no storage, and all of that is held with it: where tensors were joined and none was repeated.
        Source: PyTorch, validate_outputs in torch/csrc/autograd/engine.cpp; accumulateGrad in
        torch/csrc/autograd/functions/accumulate_grad.h, which takes it as it is."""
        op, later, at_once = step.op, list[ParamCopy | Cell](), list[ParamCopy | Cell]()
        is_replayed = step.number in self.replayed
        summed = list(op.traits.gradient.summed(op)) if is_replayed else []
        is_joined = op.traits.gradient.divides and not (self.schedule.accumulates or self.schedule.reduces)
        is_joined = is_joined and sum(int(tensor.size) for tensor in op.inputs) == int(op.output.size)
        for wanted in step.grads:
            tensor = wanted.tensor if isinstance(wanted, Cell) else wanted[0]
            is_cast = is_replayed and wanted in wide
            if is_cast or any(tensor in (one, one.storage) for one in summed):
                later.append(wanted)
            elif isinstance(wanted, Cell) or not (is_joined and self._hold(step)):
                at_once.append(wanted)
        at_once.sort(key=lambda one: one in wide)
        return at_once, later

    def _gradient(self, step: Step, wanted: ParamCopy | Cell, wide: dict[Cell, Block]) -> Gradient | Block | None:
        """Of a parameter, or of a tensor if it has yet to be added to one that waits; perhaps written over the tensor,
        and cast from a wide one."""
        if not isinstance(wanted, Cell):
            return self.trained.make(step, wanted)
        traits, size = step.op.traits, self.schedule.gradient_bytes
        overwritten = self.alive.pop(wanted, None) if traits.gradient.in_input else None
        arriving = self.gradients.get(step.output)
        same_size = traits.gradient.passes and size(wanted) == size(step.output)
        is_shared = arriving is not None and (traits.gradient.divides or same_size)
        if arriving and is_shared:
            found = arriving
            found.users += 1
        else:
            found = Gradient(overwritten) if overwritten else self._new(wanted)
        self.ledger.free(wide.get(wanted))
        if wanted in self.gradients:
            return found
        self.gradients[wanted] = found
        if traits.gradient.is_view(step.op) or (is_shared and step.output in self.views):
            self.views.add(wanted)
        return None

    def _new(self, wanted: Cell) -> Gradient:
        part = "logits" if wanted in self.schedule.logits else "temporary"
        return Gradient(self.ledger.allocate(part, self.schedule.gradient_bytes(wanted)))

    def _hold(self, step: Step) -> bool:
        """The gradient of what an op made, if one arrives."""
        arriving = self.gradients.get(step.output)
        if arriving:
            arriving.users += 1
            self.held.append(arriving)
        return bool(arriving)

    def _add(self, wanted: Cell, made: Gradient | None) -> None:
        """In place, unless someone else holds the sum too: then it takes a storage of its own.

        Source: PyTorch, torch/csrc/autograd/input_buffer.cpp, accumulate. A view holds what it is a view of."""
        there = self.gradients.get(wanted)
        if made and there and (there.users > 1 or wanted in self.views):
            self.gradients[wanted] = self._new(wanted)
            self.views.discard(wanted)
            self.drop(there)
        self.drop(made)

    def drop(self, gradient: Gradient | None) -> None:
        """One user fewer; the last one frees the storage."""
        if gradient:
            gradient.users -= 1
            if not gradient.users:
                self.ledger.free(gradient.block)
