"""Simulate the memory of a step: forward, loss, backward, optimizer.

    simulate(schedule, policy, trains=True)       every change in bytes, in order; `Levels` plays them

Going forward an op makes its output, and what nobody reads any more is freed unless the backward pass needs it. Going
back an op makes the gradients of its inputs, adds them to what is there, and lets go of what it saved.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from archcalc.analyze.memory.fsdp import Gathering
from archcalc.analyze.memory.ledger import Ledger
from archcalc.analyze.memory.parameters import ParameterGradients, WeightCopies
from archcalc.analyze.memory.profile import Happening
from archcalc.analyze.memory.schedule import Cell, Group, Loop, Node, Schedule, Step, steps
from archcalc.analyze.memory.step_policy import StepPolicy
from archcalc.core.ir import Module, Op, Param, Region


def simulate(schedule: Schedule, policy: StepPolicy, *, trains: bool) -> list[Happening]:
    """Every change in bytes over one step; the schedule stays as it is."""
    step = _Simulation(schedule, policy)
    step.forward()
    if trains:
        step.backward()
        step.update()
    return step.ledger.changes


@dataclass
class Gradient:
    """A gradient going back; several tensors may share it."""

    bytes: int
    part: str
    users: int = 1


class _Simulation:
    """The live tensors at one instant of a step."""

    def __init__(self, schedule: Schedule, policy: StepPolicy) -> None:
        self.schedule, self.policy, self.ledger = schedule, policy, Ledger()
        self.alive: dict[Cell, str] = {}  # and the part that each is accounted under
        self.savers = {cell: list(numbers) for cell, numbers in schedule.savers.items()}
        self.gradients: dict[Cell, Gradient] = {}
        self.gathering = Gathering(self.ledger.change)
        self.copies = WeightCopies(policy, self.ledger)
        self.trained = ParameterGradients(policy, self.ledger, self.gathering)

    def forward(self) -> None:
        self.gathering.begin(self.policy.gathered(None))
        self._forward(self.schedule.nodes)
        self.gathering.loss()

    def backward(self) -> None:
        self.ledger.phase = "backward"
        if self.policy.copies_are_cached:
            self._leave_autocast(self.schedule.nodes)
        first = next((group for group in self.schedule.groups() if group.module.region == Region.BLOCK), None)
        self._backward(self.schedule.nodes, first)
        self.gathering.done(self.policy.gathered(None))
        self.trained.reduce()
        self.ledger.change("gradients", 0 if self.policy.accumulates else self.policy.rounding)
        self.gathering.end()

    def update(self) -> None:
        """The optimizer's step, which is an instant of its own even where it needs nothing besides."""
        self.ledger.at("step", Module("model"))
        self.ledger.instant("temporary", self.policy.update)

    # forward

    def _forward(self, nodes: list[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._forward, node.body), node.times)
            elif isinstance(node, Group):
                self._through(node)
            else:
                self.ledger.at("loss" if node.module.region == Region.LOSS else "forward", node.module)
                if self.ledger.phase == "loss":
                    self.gathering.loss()
                self._compute(node, self.schedule.savers.__contains__)

    def _through(self, group: Group) -> None:
        if group.module.region != Region.BLOCK:
            self._forward(group.body)
            return
        self.ledger.module, weights = group.module, self.policy.gathered(group.module)
        self.gathering.forward(weights)
        self._forward(group.body)
        self.ledger.module = group.module
        self.gathering.done(weights)

    def _compute(self, step: Step, stays: Callable[[Cell], bool]) -> None:
        """Make what the op makes; whatever does not stay goes with the last op that reads it."""
        self.copies.make(step)
        touched = (*step.reads, *step.makes)
        for cell in touched:
            self._allocate(cell, stays(cell))
        if self.policy.loss_in_parts:  # logits without their largest
            self.ledger.for_a_moment("logits", self._loss_bytes(step))
        self.ledger.for_a_moment("temporary", self._gathered_keys(step))
        self.copies.drop(step, all_of_them=False)
        for cell in touched:
            if not stays(cell) and self.schedule.last_read[cell] <= step.number:
                self._free(cell)

    def _leave_autocast(self, nodes: list[Node], recomputed: bool = False) -> None:
        """Behind the loss, copies live on where a product saved them: not inside of what is recomputed."""
        for node in nodes:
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._leave_autocast, node.body, recomputed), node.times)
            elif isinstance(node, Group):
                self._leave_autocast(node.body, recomputed or node.recomputed)
            elif recomputed:
                self.copies.drop(node)

    # backward

    def _backward(self, nodes: list[Node], first: Group | None) -> None:
        for node in reversed(nodes):
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._backward, node.body, first), node.times)
            elif isinstance(node, Group):
                self._back_through(node, first)
            else:
                self.ledger.at("backward", node.module)
                self._differentiate(node)

    def _back_through(self, group: Group, first: Group | None) -> None:
        if group.module.region != Region.BLOCK:
            self._back_within(group, first)
            return
        self.ledger.at("backward", group.module)
        weights = self.policy.gathered(group.module)
        self.gathering.backward(weights, group is first)
        self._back_within(group, first)
        self.ledger.module = group.module
        self.gathering.done(weights)
        if self.policy.reduces:
            self.trained.reduce(group.module)

    def _back_within(self, group: Group, first: Group | None) -> None:
        if group.recomputed and any(step.grads for step in steps(group.body)):
            self._recompute(group)
        self._backward(group.body, first)
        for cell in (*group.reads, *group.results):
            if min(self.savers[cell], default=group.first) == group.first:
                self._free(cell)

    def _recompute(self, group: Group) -> None:
        """Compute the inside again, up to the last tensor that the backward pass needs; results behind it stay."""
        inside = list(steps(group.body))
        needed = {cell for step in inside for cell in step.saves}
        for cell in group.results:
            self.savers[cell].remove(group.first)
        for step in inside:
            for cell in step.saves:
                self.savers.setdefault(cell, []).append(step.number)
        last = _last_again(inside)
        passing = {cell for step in inside if step.number <= last for cell in step.makes} - needed
        self._replay(group.body, passing, last, group.done)
        for cell in passing:
            self._free(cell)
        for cell in needed:
            if cell.of_input:
                self._allocate(cell, True)

    def _replay(self, nodes: list[Node], passing: set[Cell], last: int, done: frozenset[Op]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self.ledger.repeated(partial(self._replay, node.body, passing, last, done), node.times)
            elif isinstance(node, Group):
                self._replay(node.body, passing, last, done)
            elif node.number <= last:
                self.ledger.at("backward", node.module)
                self._compute_again(node, passing, node.op in done)

    def _compute_again(self, step: Step, passing: set[Cell], done: bool) -> None:
        """An op whose result was saved is not recomputed, but its inputs may be freed after it."""
        if not done:
            self._compute(step, lambda cell: cell not in passing)
            return
        for cell in (*step.reads, *step.makes):
            if cell in passing and self.schedule.last_read[cell] <= step.number:
                self._free(cell)

    def _differentiate(self, step: Step) -> None:
        self.copies.make(step)
        beside = self._loss_bytes(step) * (1 + self.policy.loss_in_parts)
        self.ledger.change("logits", beside)  # goes back through the mean, then through the log-probabilities
        self.ledger.for_a_moment("temporary", 2 * self._gathered_keys(step))  # and the gradients of all of them
        arriving = self.gradients.get(step.output)
        added = [self._gradient(step, wanted, arriving) for wanted in step.grads]
        for extra in filter(None, added):
            self.ledger.change(extra.part, -extra.bytes)
        self.ledger.change("logits", -beside)
        self.copies.drop(step)
        self._let_go(step)

    def _gradient(self, step: Step, wanted: tuple[Param, int] | Cell, arriving: Gradient | None) -> Gradient | None:
        """Make one gradient; what is returned was only added to another, and goes."""
        if isinstance(wanted, tuple):
            added = self.trained.make(wanted)
            return Gradient(added, "temporary") if added else None
        there, size = self.gradients.get(wanted), self.schedule.bytes[wanted]
        if arriving and step.op.traits.passes_gradient and size == arriving.bytes:
            if not there:
                arriving.users += 1
                self.gradients[wanted] = arriving
            return None
        made = Gradient(size, "logits" if wanted in self.schedule.logits else "temporary")
        self.ledger.change(made.part, made.bytes)
        if there:
            return made
        self.gradients[wanted] = made
        return None

    def _let_go(self, step: Step) -> None:
        """Free the gradients of what the op made, and what it was the last to need."""
        for cell in step.makes:
            gradient = self.gradients.pop(cell, None)
            if gradient:
                gradient.users -= 1
                self.ledger.change(gradient.part, 0 if gradient.users else -gradient.bytes)
        for cell in step.saves:
            if min(self.savers[cell]) == step.number:
                self._free(cell)

    # cells

    def _allocate(self, cell: Cell, stays: bool) -> None:
        if cell not in self.alive:
            self.alive[cell] = self._part(cell, stays)
            self.ledger.change(self.alive[cell], self.schedule.bytes[cell])

    def _free(self, cell: Cell) -> None:
        if cell in self.alive:
            self.ledger.change(self.alive.pop(cell), -self.schedule.bytes[cell])

    def _part(self, cell: Cell, stays: bool) -> str:
        if cell in self.schedule.logits:
            return "logits"
        return "activations" if stays else self.policy.live

    def _loss_bytes(self, step: Step) -> int:
        """What a loss over a vocabulary makes of its logits; 0 of any other op."""
        name = step.op.traits.loss_of_logits
        return self.schedule.bytes[step.beside[name]] if name else 0

    def _gathered_keys(self, step: Step) -> int:
        """Source: PyTorch's context_parallel, which gathers them by default, torch/distributed/tensor/experimental."""
        if self.policy.keys_from == 1 or not step.op.traits.attention_kernel:
            return 0
        return self.policy.keys_from * sum(self.schedule.bytes[cell] for cell in step.reads[1:3])


def _last_again(inside: list[Step]) -> int:
    """The last op that is recomputed; one that saves no more than it reads is stopped before it computes."""
    saving = [step for step in inside if step.saves]
    if not saving:
        return -1
    step = saving[-1]
    return step.number - all(cell in step.reads or cell.of_input for cell in step.saves)
