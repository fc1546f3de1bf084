"""What stands in memory at every instant of a step: forward, loss, backward, optimizer.

    Timeline(nodes, holding, trains=True).sink       every change in bytes, in order; `Levels` plays them

Going forward an op makes its output, and what nobody reads any more is freed unless the backward pass needs it. Going
back an op makes the gradients of its inputs, adds them to what is there, and lets go of what it kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from archcalc.analyze.memory.fsdp import Gathering
from archcalc.analyze.memory.profile import Change, Happening, Repeated
from archcalc.analyze.memory.schedule import Cell, Group, Loop, Node, Step, groups, steps
from archcalc.core.ir import Module, Op, Param, Region
from archcalc.core.tree import ancestors


@dataclass(frozen=True)
class Holding:
    """How a step treats parameters; every function gives bytes on one GPU."""

    gradient: Callable[[Param], int]  # of one copy, as the backward pass makes it
    kept_gradient: Callable[[Param], int]  # of it, what stays
    summed: Callable[[Param], int]  # what it is copied to, to be summed over GPUs
    rounding: int  # what a flat buffer of all gradients takes beyond the sum of shares
    copy: Callable[[Param], int]  # a narrower copy, or a wider one of a quantised weight, made for the products
    copy_stays: Callable[[Param], bool]  # until the backward pass; another is made for each product
    copies_are_cached: bool  # by autocast, which forgets them behind the loss
    gathered: Callable[[Module | None], int]  # the weights of a block, or (None) of all the rest, under ZeRO-3
    accumulates: bool  # gradients of earlier micro-batches are there
    reduces: bool  # gradients are summed over GPUs and divided as soon as a block is done
    update: int  # what the optimizer's step needs besides
    keys_from: int = 1  # GPUs that share a sequence: all read the keys and values of all
    loss_in_parts: bool = False  # over GPUs that divide the vocabulary: one more tensor of logits, both ways
    live: str = "temporary"  # what tensors that no backward pass needs are called


@dataclass
class Gradient:
    """A gradient going back; several tensors may share it."""

    bytes: int
    part: str
    users: int = 1


def _last_again(inside: list[Step]) -> int:
    """The last op that is computed again; one that keeps no more than it reads is stopped before it computes."""
    keeping = [step for step in inside if step.keeps]
    if not keeping:
        return -1
    step = keeping[-1]
    return step.number - all(cell in step.reads or cell.of_input for cell in step.keeps)


class Timeline:
    """Plays a step and writes down every change."""

    def __init__(self, nodes: list[Node], holding: Holding, trains: bool) -> None:
        self.holding = holding
        self.sink: list[Happening] = []
        self.phase, self.module = "forward", Module("model")
        self.alive: dict[Cell, str] = {}  # and the part under which each is booked
        self.gradients: dict[Cell, Gradient] = {}
        self.trained: dict[tuple[Param, int], int] = {}
        self.copied: set[tuple[Param, int]] = set()  # copies of weights that are there, by the number of the step
        self.unreduced: list[tuple[Param, int]] = []
        self.gathering = Gathering(self._change)
        self.first = next((node for node in groups(nodes) if node.module.region == Region.BLOCK), None)
        self.gathering.begin(holding.gathered(None))
        self._forward(nodes)
        self.gathering.loss()
        if trains:
            self.phase = "backward"
            if self.holding.copies_are_cached:
                self._leave_autocast(nodes)
            self._backward(nodes)
            self._end()
            self._step()

    def _end(self) -> None:
        self.gathering.done(self.holding.gathered(None))
        self._reduce()
        self._change("gradients", 0 if self.holding.accumulates else self.holding.rounding)
        self.gathering.end()

    def _step(self) -> None:
        self.phase, self.module = "step", Module("model")
        self.sink.append(Change("temporary", self.holding.update, self.phase, self.module))
        self._change("temporary", -self.holding.update)

    # forward

    def _forward(self, nodes: list[Node]) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self._repeated(partial(self._forward, node.body), node.times)
            elif isinstance(node, Group):
                self._through(node)
            else:
                self._at(node, "loss" if node.module.region == Region.LOSS else "forward")
                if self.phase == "loss":
                    self.gathering.loss()
                self._compute(node, lambda cell: bool(cell.keepers), lambda cell: cell.last_read)

    def _through(self, group: Group) -> None:
        if group.module.region != Region.BLOCK:
            self._forward(group.body)
            return
        self.module, weights = group.module, self.holding.gathered(group.module)
        self.gathering.forward(weights)
        self._forward(group.body)
        self.module = group.module
        self.gathering.done(weights)

    def _compute(self, step: Step, kept: Callable[[Cell], bool], last_read: Callable[[Cell], int]) -> None:
        self._copy_weights(step)
        for cell in (*step.reads, *step.makes):
            self._allocate(cell, kept(cell))
        if self.holding.loss_in_parts:  # logits without their largest
            self._for_a_moment("logits", step.beside(step.op.traits.loss_of_logits))
        self._for_a_moment("temporary", self._gathered_keys(step))
        self._drop_copies(step, all_of_them=False)
        for cell in (*step.reads, *step.makes):
            if not kept(cell) and last_read(cell) <= step.number:
                self._free(cell)

    def _copy_weights(self, step: Step) -> None:
        """Cast, or dequantise, the weights of a product, unless that was done and has stayed."""
        for param in step.weights if step.op.traits.matrix else ():
            if (param, step.number) not in self.copied:
                self.copied.add((param, step.number))
                self._change(self._copied_to(param), self.holding.copy(param))

    def _drop_copies(self, step: Step, *, all_of_them: bool = True) -> None:
        for param in step.weights:
            if (param, step.number) in self.copied and (all_of_them or not self.holding.copy_stays(param)):
                self.copied.remove((param, step.number))
                self._change(self._copied_to(param), -self.holding.copy(param))

    def _copied_to(self, param: Param) -> str:
        return "weights" if self.holding.copy_stays(param) else "temporary"

    def _leave_autocast(self, nodes: list[Node], recomputed: bool = False) -> None:
        """Behind the loss, copies live on where a product saved them: not inside of what is computed again."""
        for node in nodes:
            if isinstance(node, Loop):
                self._repeated(partial(self._leave_autocast, node.body, recomputed), node.times)
            elif isinstance(node, Group):
                self._leave_autocast(node.body, recomputed or node.recomputed)
            elif recomputed:
                self._drop_copies(node)

    # backward

    def _backward(self, nodes: list[Node]) -> None:
        for node in reversed(nodes):
            if isinstance(node, Loop):
                self._repeated(partial(self._backward, node.body), node.times)
            elif isinstance(node, Group):
                self._back_through(node)
            else:
                self._at(node, "backward")
                self._differentiate(node)

    def _back_through(self, group: Group) -> None:
        if group.module.region != Region.BLOCK:
            self._back_within(group)
            return
        self.phase, self.module, weights = "backward", group.module, self.holding.gathered(group.module)
        self.gathering.backward(weights, group is self.first)
        self._back_within(group)
        self.module = group.module
        self.gathering.done(weights)
        if self.holding.reduces:
            self._reduce(group.module)

    def _back_within(self, group: Group) -> None:
        if group.recomputed and any(step.grads for step in steps(group.body)):
            self._recompute(group)
        self._backward(group.body)
        for cell in (*group.reads, *group.results):
            if min(cell.keepers, default=group.first) == group.first:
                self._free(cell)

    def _recompute(self, group: Group) -> None:
        """Compute the inside again, up to the last tensor that the backward pass needs; results behind it stay."""
        inside = list(steps(group.body))
        needed = {cell for step in inside for cell in step.keeps}
        for cell in group.results:
            cell.keepers.remove(group.first)
        for step in inside:
            for cell in step.keeps:
                cell.keepers.append(step.number)
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
                self._repeated(partial(self._replay, node.body, passing, last, done), node.times)
            elif isinstance(node, Group):
                self._replay(node.body, passing, last, done)
            elif node.number <= last:
                self._at(node, "backward")
                self._compute_again(node, passing, node.op in done)

    def _compute_again(self, step: Step, passing: set[Cell], done: bool) -> None:
        """An op whose result was kept makes nothing, and is still the last to read what it reads."""
        if not done:
            self._compute(step, lambda cell: cell not in passing, lambda cell: cell.last_read)
            return
        for cell in (*step.reads, *step.makes):
            if cell in passing and cell.last_read <= step.number:
                self._free(cell)

    def _differentiate(self, step: Step) -> None:
        self._copy_weights(step)
        beside = step.beside(step.op.traits.loss_of_logits) * (1 + self.holding.loss_in_parts)
        self._change("logits", beside)  # goes back through the mean, then through the log-probabilities
        self._for_a_moment("temporary", 2 * self._gathered_keys(step))  # and the gradients of all of them
        arriving = self.gradients.get(step.makes[0])
        made = [self._gradient(step, wanted, arriving) for wanted in step.grads]
        for extra in filter(None, made):
            self._change(extra.part, -extra.bytes)
        self._change("logits", -beside)
        self._drop_copies(step)
        self._let_go(step)

    def _gradient(self, step: Step, wanted: tuple[Param, int] | Cell, arriving: Gradient | None) -> Gradient | None:
        """Make one gradient; what is returned was only added to another, and goes."""
        if isinstance(wanted, tuple):
            return self._train(wanted)
        there = self.gradients.get(wanted)
        passes = step.op.traits.passes_gradient and arriving is not None and wanted.bytes == arriving.bytes
        if passes and arriving and not there:
            arriving.users += 1
            self.gradients[wanted] = arriving
            return None
        if passes:
            return None
        made = Gradient(wanted.bytes, "logits" if wanted.is_logits else "temporary")
        self._change(made.part, made.bytes)
        if there:
            return made
        self.gradients[wanted] = made
        return None

    def _train(self, wanted: tuple[Param, int]) -> Gradient | None:
        param, _ = wanted
        size = self.holding.gradient(param)
        if (self.holding.accumulates and not self.holding.reduces) or wanted in self.trained:
            self._change("temporary", size)
            return Gradient(size, "temporary")
        self.trained[wanted] = size
        if self.holding.reduces:
            self.unreduced.append(wanted)
        self._change("temporary" if self.holding.reduces else "gradients", size)
        return None

    def _reduce(self, block: Module | None = None) -> None:
        """Sum a block's gradients over GPUs, or all that are left, and keep this one's share."""
        ready = [one for one in self.unreduced if block is None or block in ancestors(one[0].owner)]
        self.unreduced = [one for one in self.unreduced if one not in ready]
        params, held = [param for param, _ in ready], self.holding
        kept = 0 if held.accumulates else sum(map(held.kept_gradient, params))
        self.gathering.reduce(sum(map(held.gradient, params)), kept, sum(map(held.summed, params)))

    def _let_go(self, step: Step) -> None:
        """Free the gradients of what the op made, and what it was the last to keep."""
        for cell in step.makes:
            gradient = self.gradients.pop(cell, None)
            if gradient:
                gradient.users -= 1
                self._change(gradient.part, 0 if gradient.users else -gradient.bytes)
        for cell in step.keeps:
            if min(cell.keepers) == step.number:
                self._free(cell)

    # bookkeeping

    def _repeated(self, play: Callable[[], None], times: int) -> None:
        outer, self.sink = self.sink, []
        play()
        outer.append(Repeated(self.sink, times))
        self.sink = outer

    def _at(self, step: Step, phase: str) -> None:
        self.phase, self.module = phase, step.module

    def _allocate(self, cell: Cell, kept: bool) -> None:
        if cell not in self.alive:
            self.alive[cell] = self._part(cell, kept)
            self._change(self.alive[cell], cell.bytes)

    def _free(self, cell: Cell) -> None:
        if cell in self.alive:
            self._change(self.alive.pop(cell), -cell.bytes)

    def _part(self, cell: Cell, kept: bool) -> str:
        return "logits" if cell.is_logits else "activations" if kept else self.holding.live

    def _gathered_keys(self, step: Step) -> int:
        """Source: PyTorch's context_parallel, which gathers them by default, torch/distributed/tensor/experimental."""
        shared = step.op.traits.attention_kernel and self.holding.keys_from > 1
        return self.holding.keys_from * sum(cell.bytes for cell in step.reads[1:3]) if shared else 0

    def _for_a_moment(self, part: str, number: int) -> None:
        self._change(part, number)
        self._change(part, -number)

    def _change(self, part: str, number: int) -> None:
        if number:
            self.sink.append(Change(part, number, self.phase, self.module))
