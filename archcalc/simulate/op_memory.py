"""What single ops allocate and free, going forward and going back.

Gradients are made, shared, added up and dropped as autograd's engine does it. Those of a tensor wait for the op that
made it, those of a parameter for its other uses, and then for the optimizer, or to be reduced over GPUs with those of
their block.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container
from dataclasses import dataclass, field

from archcalc.core.ir import Module
from archcalc.simulate.events import Block, Ledger, Stream
from archcalc.simulate.nodes import Cell, Group, ParamCopy, Step, Wanted
from archcalc.simulate.schedule import Schedule


@dataclass
class OpMemory:
    """The live tensors at one instant of a step, the gradients that wait for others, and those of parameters that are
    complete."""

    schedule: Schedule
    ledger: Ledger
    savers: dict[Cell, list[int]]  # of each tensor, those that have yet to go back
    uses: Counter[Wanted]  # of each parameter, those that have yet to be differentiated
    is_added: bool  # gradients of parameters, to those that are somewhere else
    alive: dict[Cell, Block] = field(default_factory=dict)
    weight_copies: dict[ParamCopy, Block] = field(default_factory=dict)  # by the number of the step
    replayed: set[int] = field(default_factory=set)  # steps that go back with recomputed tensors
    last_needed: dict[int, Group] = field(default_factory=dict)  # blocks by the last step that needs their inside
    gradients: dict[Wanted, Block] = field(default_factory=dict)  # that wait
    views: set[Wanted] = field(default_factory=set)  # those whose gradient is a view of what another op made
    held: list[Block] = field(default_factory=list)  # until the optimizer's step: a parameter's is a part of each
    done: list[Block] = field(default_factory=list)  # gradients of parameters, until that step is done
    unreduced: dict[ParamCopy, Block] = field(default_factory=dict)
    flat: Block | None = None  # what the last reduce-scatter reads

    def compute(self, step: Step, staying: Container[Cell], *, is_recomputed: bool = False) -> None:
        """Make what the op makes; whatever does not stay goes with the last op that reads it."""
        ledger, schedule = self.ledger, self.schedule
        self._copy_weights(step)
        touched = (*step.reads, *step.makes)
        scratch = [ledger.allocate(schedule.unread, size, "scratch of", step.output.tensor) for size in step.scratch]
        for cell in touched:
            self.allocate(cell, cell in staying)
        ledger.free(*scratch)
        if step.log_probabilities:
            size = schedule.logits_copies * schedule.bytes[step.log_probabilities]
            ledger.for_a_moment("logits", size, "copies of", step.log_probabilities.tensor)
        ledger.for_a_moment("temporary", step.gathered_keys, "keys and values of all GPUs")
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
            of_loss = ledger.allocate("logits", size, "gradient of", step.log_probabilities.tensor)
        gathered = "keys and values of all GPUs, and their gradients"
        ledger.for_a_moment("temporary", 2 * step.gathered_keys, gathered)
        own = [size for size in step.gradient_scratch if step.grads]
        scratch = [ledger.allocate("temporary", size, "scratch of the gradient of", step.output.tensor) for size in own]
        at_once, later, wide = self._order(step)
        made = [(one, *self._gradient(step, one, wide)) for one in at_once]
        if later:
            self._free_saved(step)
        made.extend((one, *self._gradient(step, one, wide)) for one in later)
        ledger.free(*scratch, of_loss)
        for copy in step.weight_copies:
            ledger.free(self.weight_copies.pop((copy.param, step.number), None))
        if step.is_leaf:
            self._hold(step)
        for cell in (step.output, *step.aux_outputs.values()):
            self.views.discard(cell)
            ledger.free(self.gradients.pop(cell, None))
        self._free_saved(step)
        for wanted, gradient, is_view in made:
            self._add(step, wanted, gradient, is_view)

    # tensors

    def allocate(self, cell: Cell, stays: bool) -> None:
        """`stays` if it outlives the ops that read it."""
        if cell not in self.alive:
            part = "activations" if stays else self.schedule.unread
            part = "logits" if cell in self.schedule.logits else part
            use = "copy of" * cell.of_input
            self.alive[cell] = self.ledger.allocate(part, self.schedule.bytes[cell], use, cell.tensor, what=cell.tensor)

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
                made = self.ledger.allocate(copy.part, copy.bytes, "copy of", copy.param)
                self.weight_copies[copy.param, step.number] = made

    # gradients

    def _order(self, step: Step) -> tuple[list[Wanted], list[Wanted], dict[Cell, Block]]:
        """Gradients that the op computes, those that are cast last; those that the engine finishes behind it; and what
        is cast: an op that gives out fp32 for a narrower input computes its gradient in fp32.

        Of what was broadcast the engine sums the gradient behind the op, and of what is narrower it casts it; the op
        holds a tensor that was recomputed no longer than it needs it. A parameter's gradient that is a part of the
        arriving one needs no storage, and all of that is held with it: where tensors were joined and none was repeated.
        Source: PyTorch, validate_outputs in torch/csrc/autograd/engine.cpp; accumulateGrad in
        torch/csrc/autograd/functions/accumulate_grad.h, which takes it as it is."""
        op, gradient, size = step.op, step.op.traits.gradient, self.schedule.bytes
        wide, later, at_once = dict[Cell, Block](), list[Wanted](), list[Wanted]()
        whole = int(op.output.size)
        for one in step.grads if gradient.promotes else ():
            if isinstance(one, Cell) and int(one.tensor.size) == whole and size[one] < size[step.output]:
                wide[one] = self.ledger.allocate("temporary", size[step.output], "gradient of", one.tensor)
        is_replayed = step.number in self.replayed
        summed = list(gradient.summed(op)) if is_replayed else []
        is_joined = gradient.divides and not (self.schedule.accumulates or self.schedule.reduces)
        is_joined = is_joined and sum(int(tensor.size) for tensor in op.inputs) == whole
        for wanted in step.grads:
            tensor = wanted.tensor if isinstance(wanted, Cell) else wanted[0]
            is_cast = is_replayed and wanted in wide
            if is_cast or any(tensor in (one, one.storage) for one in summed):
                later.append(wanted)
            elif isinstance(wanted, Cell) or not (is_joined and self._hold(step)):
                at_once.append(wanted)
        at_once.sort(key=lambda one: one in wide)
        return at_once, later, wide

    def _gradient(self, step: Step, wanted: Wanted, wide: dict[Cell, Block]) -> tuple[Block | None, bool]:
        """And whether it is a view. Of a parameter as the product of a cast copy makes it or as it is, and None for one
        that is added in its place; of a tensor perhaps the arriving one, written over the tensor, or cast from a wide
        one."""
        traits, size = step.op.traits, self.schedule.bytes
        if not isinstance(wanted, Cell):
            if wanted[0] in step.added_in_place:
                return None, False
            narrow = step.cast_gradients.get(wanted[0])
            if narrow:
                return self.ledger.allocate("temporary", narrow, "gradient of", wanted[0]), False
            return self._new(wanted, step), traits.contraction
        overwritten = self.alive.pop(wanted, None) if traits.gradient.in_input else None
        arriving = self.gradients.get(step.output)
        same_size = traits.gradient.passes and size[wanted] == size[step.output]
        is_shared = arriving is not None and (traits.gradient.divides or same_size)
        if arriving and is_shared:
            made = arriving
            made.users += 1
        else:
            made = overwritten or self._new(wanted)
        self.ledger.free(wide.get(wanted))
        return made, traits.gradient.is_view(step.op) or (is_shared and step.output in self.views)

    def _new(self, wanted: Wanted, step: Step | None = None) -> Block:
        """A storage for a gradient, or for the sum of two. The use of a head in chunks makes one chunk's beside the sum
        of those before."""
        ledger, schedule = self.ledger, self.schedule
        if isinstance(wanted, Cell):
            part = "logits" if wanted in schedule.logits else "temporary"
            return ledger.allocate(part, schedule.bytes[wanted], "gradient of", wanted.tensor)
        passes = schedule.reduces or self.is_added or wanted in self.gradients
        size = schedule.gradients[wanted[0]].made
        part = "temporary" if passes else "gradients"
        made = ledger.allocate(part, size, "gradient of", wanted[0], what=wanted[0])
        if step and schedule.loss_chunks > 1 and step.output in schedule.logits:
            ledger.for_a_moment("temporary", size, "gradient of", wanted[0])
        return made

    def _hold(self, step: Step) -> bool:
        """The gradient of what an op made, if one arrives."""
        arriving = self.gradients.get(step.output)
        if arriving:
            arriving.users += 1
            self.held.append(arriving)
        return bool(arriving)

    def _add(self, step: Step, wanted: Wanted, made: Block | None, is_view: bool) -> None:
        """To what waits, a narrow one cast back first. In place, unless someone else holds the sum too or it is a view:
        then it takes a storage of its own. The last use of a parameter completes its gradient.

        Source: PyTorch, torch/csrc/autograd/input_buffer.cpp, accumulate. A view holds what it is a view of."""
        ledger = self.ledger
        if not isinstance(wanted, Cell):
            self.uses[wanted] -= 1
            if made and step.cast_gradients.get(wanted[0]):
                narrow, made = made, self._new(wanted, step)
                ledger.free(narrow)
        if made is None:
            return
        there = self.gradients.pop(wanted, None)
        if there is None:
            self.views.update([wanted] if is_view else [])
        elif there.users > 1 or wanted in self.views:
            self.views.discard(wanted)
            parts, made = (there, made), self._new(wanted)
            ledger.free(*parts)
        else:
            ledger.free(made)
            made = there
        if isinstance(wanted, Cell) or self.uses[wanted] > 0:
            self.gradients[wanted] = made
        elif self.schedule.reduces:
            self.unreduced[wanted] = made
        elif self.is_added:
            ledger.free(made)
        else:
            self.done.append(made)

    def reduce(self, block: Module | None = None) -> None:
        """Reduce a block's gradients over GPUs, or all that are left, and keep this GPU's share.

        They are copied into one flat input of a reduce-scatter, which stays until those of the next block are to be
        reduced, and the reduced shards are allocated on the stream of the reduce-scatter. Source: PyTorch,
        torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py and _fsdp_collectives.py."""
        ready = [one for one in self.unreduced if block is None or block in one[0].owner.ancestry]
        sizes = [self.schedule.gradients[param] for param, _ in ready]
        self.ledger.free(self.flat)
        self.flat = self.ledger.allocate("temporary", sum(size.flat for size in sizes), "gradients to reduce")
        self.ledger.free(*[self.unreduced.pop(one) for one in ready])
        share = 0 if self.schedule.accumulates else sum(size.share for size in sizes)
        reduced = self.ledger.allocate("gradients", share, "reduced gradients", stream=Stream.REDUCE_SCATTER)
        if self.schedule.to_host:
            self.ledger.free(reduced)
        else:
            self.done.append(reduced)
