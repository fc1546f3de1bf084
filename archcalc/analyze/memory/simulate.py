"""Simulate the memory of a step: forward, loss, backward, optimizer.

    simulate(schedule, policy, trains=True)       every change in bytes, in order; `Levels` plays them

Going forward an op makes its output, and what nobody reads any more is freed unless the backward pass needs it. Going
back an op makes the gradients of its inputs, adds them to what is there, and lets go of what it saved.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from functools import partial

from archcalc.analyze.memory.folds import expanded
from archcalc.analyze.memory.forward_pass import ForwardPass, is_leaf
from archcalc.analyze.memory.fsdp import Gathered
from archcalc.analyze.memory.parameters import Copy
from archcalc.analyze.memory.profile import Block, Change, Happening
from archcalc.analyze.memory.schedule import ENDS, EVERY, Cell, Group, Loop, Node, Runs, Schedule, Step, steps
from archcalc.analyze.memory.step_policy import StepPolicy
from archcalc.core.ir import Module, Op, Region


def simulate(schedule: Schedule, policy: StepPolicy, *, trains: bool) -> list[Happening]:
    """Every change in bytes over one step; the schedule stays as it is."""
    step = _Simulation(schedule, policy)
    step.forward()
    if trains:
        step.backward()
        step.update()
    return step.ledger.changes


def simulate_unrolled(made: Callable[[Runs], Schedule], policy: StepPolicy, *, trains: bool) -> list[Happening]:
    """The same without loops, every allocation with its block."""
    few = made(ENDS)
    changes = [one for one in simulate(few, policy, trains=trains) if isinstance(one, Change)]
    holds_all = bool(few.folds) and bool(few.outliving) and policy.logits_held == "next_forward"  # from before the step
    found = None if holds_all else expanded(changes, few.folds)
    return simulate(made(EVERY), policy, trains=trains) if found is None else list(found)


Wide = dict[Cell, Block | None]  # gradients in fp32, before they are cast


class _Simulation(ForwardPass):
    """The live tensors at one instant of a step."""

    def backward(self) -> None:
        self.ledger.at(self.ledger.phase, self.ledger.module)
        if self.policy.copies_are_cached:
            self._leave_autocast(self.schedule.nodes)
        self.ledger.phase = "backward"
        self._let_go_of_logits("loss")
        ones = self._gradient_of_loss()
        bucket = self.ledger.allocate("temporary", self.policy.reduce_bucket)
        self._backward(self.schedule.nodes)
        self.ledger.free(ones)
        self._let_go_of_logits("backward")
        self.outside.free()
        self.trained.reduce()
        if not (self.policy.accumulates or self.policy.offloads):
            self.trained.kept.append(self.ledger.allocate("gradients", self.policy.rounding))
        self.gathering.end()
        self.ledger.free(bucket)

    def update(self) -> None:
        """The optimizer's step, which is an instant of its own even where it needs nothing besides."""
        self.ledger.at("step", Module("model"))
        self.ledger.instant()
        for updated in self.policy.updates:
            self._free_all([self.ledger.allocate("temporary", size) for size in updated])
        self.trained.clear()
        self.gradients.clear()
        self._let_go_of_batch()
        self.ledger.free(self.products)

    # backward

    def _backward(self, nodes: list[Node]) -> None:
        for node in reversed(nodes):
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._backward, node.body), node.times)
            elif isinstance(node, Group):
                self._back_through(node)
            else:
                self.ledger.at("backward", node.module, node.number)
                self._prefetch_last_block(node)
                self._differentiate(node)

    def _prefetch_last_block(self, step: Step) -> None:
        """By a hook on the model's output, that is, once the loss has been differentiated."""
        if not self.has_prefetched and step.module.region != Region.LOSS:
            self.has_prefetched = True
            self.gathering.prefetch(self._weights_before(len(self.blocks)))

    def _back_through(self, group: Group) -> None:
        if group.module.region != Region.BLOCK:
            self._back_within(group)
            return
        self.ledger.at("backward", group.module, group.first)
        self.ledger.run = group.first
        if group is self.blocks[-1] and self.policy.groups.last:
            self.behind.free()
            self.trained.reduce()
        gathered = self._gathered_again(group)
        self._bring_back(group)
        self._back_within(group)
        self.ledger.module = group.module
        gathered.free()
        if self.policy.reduces:
            self.trained.reduce(group.module)
        if group is self.blocks[0]:
            self.gathering.backward(self.policy.groups.first, ()).free()
        self.ledger.run = 0

    def _bring_back(self, group: Group) -> None:
        """What the block before saved is copied from host RAM while this one is differentiated."""
        before = self._before(group) if self.schedule.offloaded else None
        for cell in self.schedule.offloaded[before] if before else ():
            self._allocate(cell, True)

    def _gathered_again(self, group: Group) -> Gathered:
        """The block's weights, while those of the block before it are gathered."""
        before = self._weights_before(self.blocks.index(group))
        if group not in self.gathered:
            return self.gathering.backward(self.policy.groups.block(group.module), before)
        self.gathering.prefetch(before)
        return self.gathered.pop(group)

    def _weights_before(self, place: int) -> Sequence[int]:
        """What an all-gather fills ahead of time: the weights of the block that ran before the one at this place."""
        if place == 0:
            return self.policy.groups.first
        before = self.blocks[place - 1]
        return () if before in self.gathered else self.policy.groups.block(before.module)

    def _back_within(self, group: Group) -> None:
        body = group.body
        if group.recomputed and any(step.grads for step in steps(body)):
            behind = _needing_nothing(body)
            self._backward(behind)
            body = body[: len(body) - len(behind)]
            self._recompute(group)
        self._backward(body)
        self._let_go_of_inputs(group)

    def _let_go_of_inputs(self, group: Group) -> None:
        for cell in (*group.reads, *group.results):
            if min(self.savers[cell], default=group.first) == group.first:
                self._free(cell)

    def _recompute(self, group: Group) -> None:
        """Compute the inside again, up to the last tensor that the backward pass needs; results behind it stay."""
        inside = list(steps(group.body))
        needed = {cell: None for step in inside for cell in step.saves}  # in order: so pieces of memory are freed
        for cell in group.results:
            self.savers[cell].remove(group.first)
        for step in inside:
            for cell in step.saves:
                self.savers.setdefault(cell, []).append(step.number)
        saving = [step.number for step in inside if step.saves]
        self.replayed.update(saving)
        self.last_needed.update({number: group for number in saving[:1] if group.module.region == Region.BLOCK})
        last = _last_again(inside)
        again = (cell for step in inside if step.number <= last for cell in step.makes)
        passing = {cell: None for cell in again if cell not in needed}
        self._replay(group.body, passing, last, group.done)
        self._free_all(self.leaves)
        self.leaves = []
        for cell in passing:
            self._free(cell)
        for cell in needed:
            if cell.of_input:
                self._allocate(cell, True)

    def _replay(self, nodes: list[Node], passing: Container[Cell], last: int, done: frozenset[Op]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._replay, node.body, passing, last, done), node.times)
            elif isinstance(node, Group):
                self._replay(node.body, passing, last, done)
            elif node.number <= last:
                self.ledger.at("backward", node.module, node.number)
                self._compute_again(node, passing, node.op in done)

    def _compute_again(self, step: Step, passing: Container[Cell], done: bool) -> None:
        """An op whose result was saved is not recomputed, but its inputs may be freed after it."""
        if not done:
            self.leaves.extend([self._made_twice(step)] if is_leaf(step) else [])
            self._compute(step, lambda cell: cell not in passing)
            return
        for cell in (*step.reads, *step.makes):
            if cell in passing and self.schedule.last_read[cell] <= step.number:
                self._free(cell)

    def _made_twice(self, step: Step) -> Block:
        """A leaf beside the first one, which the graph holds."""
        return self.ledger.allocate(self.policy.live, self.schedule.bytes[step.output])

    def _differentiate(self, step: Step) -> None:
        self.copies.make(step)
        # goes back through the mean, then through the log-probabilities
        beside = self.ledger.allocate("logits", self._loss_bytes(step) * (1 + self.policy.loss_in_parts))
        self.ledger.for_a_moment("temporary", 2 * self._gathered_keys(step))  # and the gradients of all of them
        beside_it = (*step.gradient_scratch, *self.policy.workspace(step.op)) if step.grads else ()
        scratch = [self.ledger.allocate("temporary", size) for size in beside_it]
        wide = {one: self.gradients.computed_wide(step, one) for one in step.grads if isinstance(one, Cell)}
        later = [one for one in step.grads if self._is_finished_later(step, one, wide)]
        at_once = [one for one in step.grads if one not in later and not self._takes_part(step, one)]
        at_once.sort(key=lambda one: isinstance(one, Cell) and wide[one] is not None)  # cast once all are computed
        adding = [self._gradient(step, wanted, wide) for wanted in at_once]
        if later:
            self._let_go_of_saved(step)
        adding.extend(self._gradient(step, wanted, wide) for wanted in later)
        self._free_all([*scratch, beside])
        self.copies.drop(step)
        if is_leaf(step):
            self.gradients.keep(step)
        self.gradients.let_go(step)
        self._let_go_of_saved(step)
        for add in adding:
            add()

    def _gradient(self, step: Step, wanted: Copy | Cell, wide: Wide) -> Callable[[], None]:
        """Makes a gradient, perhaps of a wide one; what is given adds it to others, once the op has let go of all."""
        if isinstance(wanted, Cell):
            overwritten = self.alive.pop(wanted, None) if step.op.traits.gradient_in_input else None
            made = self.gradients.make(step, wanted, overwritten)
            self.ledger.free(wide[wanted])
            return partial(self.gradients.add, wanted, made)
        if self.policy.is_fused(step.op, wanted[0]):
            return partial(self.trained.skip, wanted)
        narrow = self.policy.cast_gradient(wanted[0]) if step.op.traits.autocast == "narrow" else 0
        if narrow:
            return partial(self._cast_back, step, wanted, self.ledger.allocate("temporary", narrow))
        trained = self._of_chunks(step, wanted)
        return partial(self.trained.add, wanted, trained, is_view=step.op.traits.contraction)

    def _of_chunks(self, step: Step, wanted: Copy) -> Block:
        """A parameter's gradient; that of a head in chunks is one chunk's beside the sum of those before."""
        made = self.trained.make(wanted)
        if self.schedule.chunks > 1 and step.output in self.schedule.logits:
            self.ledger.for_a_moment("temporary", self.policy.gradient(wanted[0]))
        return made

    def _cast_back(self, step: Step, wanted: Copy, narrow: Block) -> None:
        """The gradient of a copy that autocast made, once the op has let go of all."""
        trained = self._of_chunks(step, wanted)
        self.ledger.free(narrow)
        self.trained.add(wanted, trained, is_view=False)

    def _takes_part(self, step: Step, wanted: Copy | Cell) -> bool:
        """Whether a parameter's gradient is a part of the arriving one, all of which is kept with it: where tensors
        were joined and none of them was repeated.

        Source: PyTorch, accumulateGrad in torch/csrc/autograd/functions/accumulate_grad.h, which takes it as it is."""
        op, policy = step.op, self.policy
        if isinstance(wanted, Cell) or not op.traits.divides_gradient or policy.accumulates or policy.reduces:
            return False
        if sum(int(tensor.size) for tensor in op.inputs) != int(op.output.size):
            return False
        return self.gradients.keep(step)

    def _is_finished_later(self, step: Step, wanted: Copy | Cell, wide: Wide) -> bool:
        """Of what was broadcast the engine sums the gradient behind the op, and of what is narrower it casts it; the op
        holds a tensor that was recomputed no longer than it needs it.

        Source: PyTorch, validate_outputs in torch/csrc/autograd/engine.cpp."""
        if step.number not in self.replayed:
            return False
        if isinstance(wanted, Cell) and wide[wanted]:
            return True
        tensor = wanted.tensor if isinstance(wanted, Cell) else wanted[0]
        return any(tensor in (one, one.storage) for one in step.op.traits.summed(step.op))

    def _let_go_of_saved(self, step: Step) -> None:
        """What the op was the last to need; with the last tensor of a recomputed block, what that was given."""
        for cell in step.saves:
            if min(self.savers[cell]) == step.number:
                self._free(cell)
        group = self.last_needed.pop(step.number, None)
        if group:
            self._let_go_of_inputs(group)


def _needing_nothing(body: list[Node]) -> list[Node]:
    """The last steps, as long as they saved nothing: a block is recomputed when its first saved tensor is asked for."""
    saving = [place for place, node in enumerate(body) if not isinstance(node, Step) or node.packs]
    return body[max(saving, default=-1) + 1 :]


def _last_again(inside: list[Step]) -> int:
    """The last op that is recomputed; one that saves no more than it reads is stopped before it computes."""
    packing = [step for step in inside if step.packs]
    if not packing:
        return -1
    step = packing[-1]
    return step.number - all(cell in step.reads or cell.of_input for cell in step.saves)
