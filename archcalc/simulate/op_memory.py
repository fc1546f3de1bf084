"""What single ops allocate and free, going forward and going back."""

from __future__ import annotations

from collections.abc import Container

from archcalc.simulate.events import Block
from archcalc.simulate.ledger import Ledger
from archcalc.simulate.nodes import Cell, Group, ParamCopy, Step
from archcalc.simulate.parameter_gradients import ParameterGradients
from archcalc.simulate.schedule import Schedule
from archcalc.simulate.tensor_gradients import Gradient, TensorGradients


class OpMemory:
    """The live tensors at one instant of a step, and the gradients that wait for others."""

    def __init__(self, schedule: Schedule, ledger: Ledger, trained: ParameterGradients) -> None:
        self.schedule, self.ledger, self.trained = schedule, ledger, trained
        self.alive: dict[Cell, Block] = {}
        self.savers = schedule.savers()
        self.gradients = TensorGradients(schedule, ledger)
        self.weight_copies: dict[ParamCopy, Block] = {}  # by the number of the step
        self.replayed: set[int] = set()  # steps that go back with recomputed tensors
        self.last_needed: dict[int, Group] = {}  # blocks by the last step that needs what was recomputed

    def compute(self, step: Step, staying: Container[Cell], *, is_recomputed: bool = False) -> None:
        """Make what the op makes; whatever does not stay goes with the last op that reads it."""
        ledger, schedule = self.ledger, self.schedule
        self._copy_weights(step)
        touched = (*step.reads, *step.makes)
        scratch = [ledger.allocate(schedule.unread, size) for size in step.scratch]
        for cell in touched:
            self.allocate(cell, cell in staying)
        ledger.free(*scratch)
        ledger.for_a_moment("logits", schedule.logits_copies * self._loss_bytes(step))
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
        # goes back through the mean, then through the log-probabilities
        of_loss = ledger.allocate("logits", self._loss_bytes(step) * (1 + schedule.logits_copies))
        ledger.for_a_moment("temporary", 2 * step.gathered_keys)  # and the gradients of all of them
        scratch = [ledger.allocate("temporary", size) for size in step.gradient_scratch if step.grads]
        wide = {one: self.gradients.computed_wide(step, one) for one in step.grads if isinstance(one, Cell)}
        at_once, later = self._order(step, wide)
        made = [(one, self._gradient(step, one, wide)) for one in at_once]
        if later:
            self._free_saved(step)
        made.extend((one, self._gradient(step, one, wide)) for one in later)
        ledger.free(*scratch, of_loss)
        for copy in step.weight_copies:
            ledger.free(self.weight_copies.pop((copy.param, step.number), None))
        if step.is_leaf:
            self.gradients.hold(step)
        self.gradients.free(step)
        self._free_saved(step)
        for wanted, gradient in made:
            if isinstance(wanted, Cell):
                assert not isinstance(gradient, Block)
                self.gradients.add(wanted, gradient)
            else:
                assert not isinstance(gradient, Gradient)
                self._add(step, wanted, gradient)

    def free_inputs(self, group: Group) -> None:
        for cell in (*group.reads, *group.results):
            if min(self.savers[cell], default=group.first) == group.first:
                self.free(cell)

    def allocate(self, cell: Cell, stays: bool) -> None:
        if cell not in self.alive:
            part = self.schedule.part(cell, stays)
            self.alive[cell] = self.ledger.allocate(part, self.schedule.bytes[cell], what=cell.tensor)

    def free(self, *cells: Cell) -> None:
        for cell in cells:
            if cell in self.alive and cell not in self.schedule.outliving:
                self.ledger.free(self.alive.pop(cell))

    def _copy_weights(self, step: Step) -> None:
        """For a matrix product, unless the copies still exist."""
        for copy in step.weight_copies:
            if (copy.param, step.number) not in self.weight_copies:
                self.weight_copies[copy.param, step.number] = self.ledger.allocate(copy.part, copy.bytes)

    def _loss_bytes(self, step: Step) -> int:
        """What a loss over a vocabulary makes of its logits; 0 of any other op."""
        name = step.op.traits.loss_of_logits
        return self.schedule.bytes[step.aux_outputs[name]] if name else 0

    def _order(self, step: Step, wide: dict[Cell, Block | None]) -> tuple[list[ParamCopy | Cell], ...]:
        """Gradients that the op computes, those that are cast last, and those that the engine finishes behind it.

        Of what was broadcast the engine sums the gradient behind the op, and of what is narrower it casts it; the op
        holds a tensor that was recomputed no longer than it needs it. A parameter's gradient that is a part of the
        arriving one needs no storage, and all of that is held with it: where tensors were joined and none was repeated.
        Source: PyTorch, validate_outputs in torch/csrc/autograd/engine.cpp; accumulateGrad in
        torch/csrc/autograd/functions/accumulate_grad.h, which takes it as it is."""
        op, later, at_once = step.op, list[ParamCopy | Cell](), list[ParamCopy | Cell]()
        summed = list(op.traits.summed(op)) if step.number in self.replayed else []
        is_joined = op.traits.divides_gradient and not (self.schedule.accumulates or self.schedule.reduces)
        for wanted in step.grads:
            tensor = wanted.tensor if isinstance(wanted, Cell) else wanted[0]
            is_cast = isinstance(wanted, Cell) and wide[wanted] is not None and step.number in self.replayed
            if is_cast or any(tensor in (one, one.storage) for one in summed):
                later.append(wanted)
            elif isinstance(wanted, Cell) or not (is_joined and self._is_part(step)):
                at_once.append(wanted)
        at_once.sort(key=lambda one: isinstance(one, Cell) and wide[one] is not None)
        return at_once, later

    def _is_part(self, step: Step) -> bool:
        """Whether the op joined its inputs as they are, and a gradient arrives, which is then held."""
        joined = sum(int(tensor.size) for tensor in step.op.inputs) == int(step.op.output.size)
        return joined and self.gradients.hold(step)

    def _gradient(
        self, step: Step, wanted: ParamCopy | Cell, wide: dict[Cell, Block | None]
    ) -> Gradient | Block | None:
        """Of a tensor, perhaps cast from a wide one; of a parameter, as the product of a cast copy makes it or as it
        is; None for one that is in its place already."""
        if isinstance(wanted, Cell):
            overwritten = self.alive.pop(wanted, None) if step.op.traits.gradient_in_input else None
            made = self.gradients.make(step, wanted, overwritten)
            self.ledger.free(wide[wanted])
            return made
        if wanted[0] in step.added_in_place:
            return None
        narrow = step.cast_gradients.get(wanted[0])
        return self.ledger.allocate("temporary", narrow) if narrow else self._of_parameter(step, wanted)

    def _of_parameter(self, step: Step, wanted: ParamCopy) -> Block:
        """That of a head in chunks is one chunk's beside the sum of those before."""
        made = self.trained.make(wanted)
        if self.schedule.loss_chunks > 1 and step.output in self.schedule.logits:
            self.ledger.for_a_moment("temporary", self.schedule.gradients[wanted[0]].made)
        return made

    def _add(self, step: Step, wanted: ParamCopy, made: Block | None) -> None:
        """A parameter's gradient to those of its other uses, once the op has freed all; a narrow one is cast back."""
        if made is None:
            self.trained.uses[wanted] -= 1
        elif step.cast_gradients.get(wanted[0]):
            cast = self._of_parameter(step, wanted)
            self.ledger.free(made)
            self.trained.add(wanted, cast, is_view=False)
        else:
            self.trained.add(wanted, made, is_view=step.op.traits.contraction)

    def _free_saved(self, step: Step) -> None:
        """Saved tensors after their last reader; after the last one of a recomputed block, its inputs too."""
        self.free(*(cell for cell in step.saves if min(self.savers[cell]) == step.number))
        group = self.last_needed.pop(step.number, None)
        if group:
            self.free_inputs(group)
