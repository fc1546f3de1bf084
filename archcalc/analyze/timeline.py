"""What stands in memory at every instant of a step: forward, loss, backward, optimizer.

    Timeline(nodes, holding, trains=True).sink       every change in bytes, in order; `Levels` plays them

Going forward an op makes its output, and what nobody reads any more is freed unless the backward pass needs it. Going
back an op makes the gradients of its inputs, adds them to what is there, and lets go of what it kept.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from archcalc.analyze.levels import Change, Happening, Repeated
from archcalc.analyze.steps import Cell, Group, Loop, Node, Step, steps
from archcalc.ir import Module, Param

PASSING = frozenset({"add", "copy"})  # a gradient goes through them as it is, without a storage of its own


@dataclass(frozen=True)
class Holding:
    """How a step treats parameters; every function gives bytes on one GPU."""

    gradient: Callable[[Param], int]  # of one copy, as the backward pass makes it
    kept_gradient: Callable[[Param], int]  # of it, what stays
    copy: Callable[[Param], int]  # a narrower copy, or a wider one of a quantised weight, made for the products
    copies_stay: bool  # until the backward pass
    gathered: Callable[[Module | None], int]  # the weights of a block, or (None) of all the rest, under ZeRO-3
    accumulates: bool  # gradients of earlier micro-batches are there
    reduces: bool  # gradients are summed over GPUs and divided as soon as a block is done
    update: int  # what the optimizer's step needs besides
    live: str = "temporary"  # what tensors that no backward pass needs are called


@dataclass
class Gradient:
    """A gradient going back; several tensors may share it."""

    bytes: int
    part: str
    users: int = 1


class Timeline:
    """Plays a step and writes down every change."""

    def __init__(self, nodes: list[Node], holding: Holding, trains: bool) -> None:
        self.holding = holding
        self.sink: list[Happening] = []
        self.phase, self.module = "forward", Module("model")
        self.alive: set[Cell] = set()
        self.gradients: dict[Cell, Gradient] = {}
        self.trained: dict[tuple[Param, int], int] = {}
        self.copied: set[tuple[Param, int]] = set()
        self.unreduced: list[tuple[Param, int]] = []
        self._change("temporary", holding.gathered(None))
        self._forward(nodes)
        if trains:
            self.phase = "backward"
            self._backward(nodes)
            self._reduce()
        self._change("temporary", -holding.gathered(None))
        if trains:
            self._step()

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
                self._gathered(node, partial(self._forward, node.body))
            else:
                self._at(node, "loss" if node.module.unit == "loss" else "forward")
                self._compute(node, lambda cell: bool(cell.keepers), lambda cell: cell.last_read)

    def _compute(self, step: Step, kept: Callable[[Cell], bool], last_read: Callable[[Cell], int]) -> None:
        self._copy_weights(step)
        for cell in (*step.reads, *step.makes):
            self._allocate(cell, kept(cell))
        if not self.holding.copies_stay:
            self._drop_copies(step)
        for cell in (*step.reads, *step.makes):
            if not kept(cell) and last_read(cell) <= step.number:
                self._free(cell, False)

    def _copy_weights(self, step: Step) -> None:
        for param in step.weights if step.op.kind == "contract" else ():
            self._change("weights" if self.holding.copies_stay else "temporary", self.holding.copy(param))

    def _drop_copies(self, step: Step) -> None:
        for param in step.weights if step.op.kind == "contract" else ():
            self._change("weights" if self.holding.copies_stay else "temporary", -self.holding.copy(param))

    # backward

    def _backward(self, nodes: list[Node]) -> None:
        for node in reversed(nodes):
            if isinstance(node, Loop):
                self._repeated(partial(self._backward, node.body), node.times)
            elif isinstance(node, Group):
                self._gathered(node, partial(self._back_through, node))
            else:
                self._at(node, "backward")
                self._differentiate(node)

    def _back_through(self, group: Group) -> None:
        if group.recomputed and any(step.grads for step in steps(group.body)):
            self._recompute(group)
        self._backward(group.body)
        for cell in group.reads:
            if min(cell.keepers) == group.first:
                self._free(cell, True)
        if self.holding.reduces and group.module.unit == "block":
            self._reduce()

    def _recompute(self, group: Group) -> None:
        """Compute the inside again, up to the last tensor that the backward pass needs."""
        inside = list(steps(group.body))
        needed = {cell for step in inside for cell in step.keeps}
        for step in inside:
            for cell in step.keeps:
                cell.keepers.append(step.number)
        last = max((step.number for step in inside if step.keeps), default=-1)
        passing = {cell for step in inside for cell in step.makes} - needed
        self._replay(group.body, passing, last)
        for cell in passing:
            self._free(cell, False)

    def _replay(self, nodes: list[Node], passing: set[Cell], last: int) -> None:
        for node in nodes:
            if isinstance(node, Loop):
                self._repeated(partial(self._replay, node.body, passing, last), node.times)
            elif isinstance(node, Group):
                self._replay(node.body, passing, last)
            elif node.number <= last:
                self._at(node, "backward")
                self._compute(node, lambda cell: cell not in passing, lambda cell: cell.last_read)

    def _differentiate(self, step: Step) -> None:
        if not self.holding.copies_stay:
            self._copy_weights(step)
        if step.op.kind == "cross_entropy":  # goes back through the mean, then through the log-probabilities
            self._change("logits", step.makes[1].bytes)
        arriving = self.gradients.get(step.makes[0])
        made = [self._gradient(step, wanted, arriving) for wanted in step.grads]
        for extra in filter(None, made):
            self._change(extra.part, -extra.bytes)
        if step.op.kind == "cross_entropy":
            self._change("logits", -step.makes[1].bytes)
        self._drop_copies(step)
        self._let_go(step)

    def _gradient(self, step: Step, wanted: tuple[Param, int] | Cell, arriving: Gradient | None) -> Gradient | None:
        """Make one gradient; what is returned was only added to another, and goes."""
        if isinstance(wanted, tuple):
            return self._train(wanted)
        there = self.gradients.get(wanted)
        passes = step.op.kind in PASSING and arriving is not None and wanted.bytes == arriving.bytes
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

    def _reduce(self) -> None:
        """Sum gradients over GPUs, and keep this one's share."""
        for param, _ in self.unreduced:
            self._change("gradients", 0 if self.holding.accumulates else self.holding.kept_gradient(param))
        for param, _ in self.unreduced:
            self._change("temporary", -self.holding.gradient(param))
        self.unreduced.clear()

    def _let_go(self, step: Step) -> None:
        """Free the gradients of what the op made, and what it was the last to keep."""
        for cell in step.makes:
            gradient = self.gradients.pop(cell, None)
            if gradient:
                gradient.users -= 1
                self._change(gradient.part, 0 if gradient.users else -gradient.bytes)
        for cell in step.keeps:
            if min(cell.keepers) == step.number:
                self._free(cell, True)

    # bookkeeping

    def _gathered(self, group: Group, inside: Callable[[], None]) -> None:
        """ZeRO-3 gathers a block's weights before it runs, and the next block's while it runs."""
        blocks = 2 if group.module.repeat > 1 else 1
        size = self.holding.gathered(group.module) * blocks if group.module.unit == "block" else 0
        self.module = group.module
        self._change("temporary", size)
        inside()
        self.module = group.module
        self._change("temporary", -size)

    def _repeated(self, play: Callable[[], None], times: int) -> None:
        outer, self.sink = self.sink, []
        play()
        outer.append(Repeated(self.sink, times))
        self.sink = outer

    def _at(self, step: Step, phase: str) -> None:
        self.phase, self.module = phase, step.module

    def _allocate(self, cell: Cell, kept: bool) -> None:
        if cell not in self.alive:
            self.alive.add(cell)
            self._change(self._part(cell, kept), cell.bytes)

    def _free(self, cell: Cell, kept: bool) -> None:
        if cell in self.alive:
            self.alive.discard(cell)
            self._change(self._part(cell, kept), -cell.bytes)

    def _part(self, cell: Cell, kept: bool) -> str:
        return "logits" if cell.is_logits else "activations" if kept else self.holding.live

    def _change(self, part: str, number: int) -> None:
        if number:
            self.sink.append(Change(part, number, self.phase, self.module))
