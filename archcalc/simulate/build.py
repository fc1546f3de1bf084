"""Unroll a traced model into the order in which it runs, each tensor a cell of memory of its own.

    step = schedule(root, policy, trainable, size, [mark_logits, ...])

A module that runs a hundred times is followed through its first runs, one in the middle and the last; the one in the
middle stands for all like it (`Loop`). So a step of any depth is a few hundred ops, and its memory is still exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from archcalc.core.execution import Gradients, Trainable
from archcalc.core.ir import Module, Op, Param, Region, Tensor
from archcalc.core.kernels import as_op
from archcalc.core.mesh import Plan
from archcalc.core.precision import Policy
from archcalc.simulate.nodes import Cell, Group, Loop, Mark, Step, Wanted
from archcalc.simulate.schedule import Pass, Schedule

FIRST = 2  # runs until nothing changes any more from one to the next: the second may see other gradients than the first
EVERY = 2**40  # runs: no loops
REGIONS = (Region.BLOCK, Region.CORE)  # modules whose runs are groups
Size = Callable[[Tensor, Module], int]


@dataclass(frozen=True)
class TensorBytes:
    """On one GPU, by a plan and a policy. What is cached between steps is there all the time, and counted apart."""

    plan: Plan
    policy: Policy

    def __call__(self, tensor: Tensor, module: Module) -> int:
        return 0 if tensor.role == "cache" else self.plan.size(tensor) * self.policy.bytes_of(tensor.role)


def schedule(
    root: Module, policy: Policy, trainable: Trainable, size: Size, passes: Iterable[Pass] = (), first: int = FIRST
) -> Schedule:
    """One step of the model, after all passes. `first` runs of a module are followed before one stands for others."""
    made = Schedule(root)
    _Build(made, policy, Gradients(trainable), size, first).walk()
    for change in passes:
        made = change(made)
    return made


@dataclass
class _Frame:
    """A module that is running: which run it is in, and what was known of its state before the first."""

    module: Module
    runs: int
    given: dict[Tensor, tuple[list[Cell] | None, bool]]
    outer: int  # how often all of its runs happen
    times: int = 1  # and how often this one does
    run: int = -1
    body: Iterator[Module | Op] = field(default_factory=lambda: iter(()))
    regions: list[Loop | Group] = field(default_factory=list)  # that this run is


@dataclass
class _Build:
    """Walks the tree in the order of computation, and writes the schedule."""

    made: Schedule
    policy: Policy
    gradients: Gradients
    size: Size
    first: int
    cells: dict[Tensor, list[Cell]] = field(default_factory=dict)  # of each storage, or what was handed over for it
    copies: dict[Module, int] = field(default_factory=dict)  # which copy of a module is running
    turns: dict[Module, int] = field(default_factory=dict)  # and how often it ran before, in a row
    frames: list[_Frame] = field(default_factory=list)
    number: int = 0

    def walk(self) -> None:
        nodes, root = self.made.nodes, self.made.root
        self.frames = [_Frame(root, int(root.runs), {}, 1)]
        self._begin_run(self.frames[0])
        while self.frames:
            frame = self.frames[-1]
            item = next(frame.body, None)
            if item is None:
                self._end_run(frame)
            elif isinstance(item, Module) and item.is_first_only and any(map(self.turns.get, frame.module.ancestry)):
                continue
            elif isinstance(item, Module) and item.region == Region.KERNEL:
                nodes.append(self._step(as_op(item), item))
            elif isinstance(item, Module) and item.runs:
                given = {into: (self.cells.get(into), self.gradients.wants(into)) for into, _ in item.carries}
                self.frames.append(_Frame(item, int(item.runs), given, frame.times))
                self._begin_run(self.frames[-1])
            elif isinstance(item, Op) and item.traits.allocates:
                nodes.append(self._step(item, frame.module))
            elif isinstance(item, Op):
                if item.traits.enters and item.output not in self.cells:
                    self._make(item.output, frame.module)
                self.gradients.follow(item)

    def _begin_run(self, frame: _Frame) -> None:
        """The next run of a module that is followed: it stands for many, or for itself."""
        module, nodes, groups = frame.module, self.made.nodes, self.made.groups
        frame.run += 1
        self.copies[module], self.turns[module] = frame.run // int(module.calls), frame.run
        between = frame.runs - self.first - 1 if frame.run == self.first and frame.runs > self.first + 2 else 1
        frame.times, frame.regions, frame.body = frame.outer * between, [], iter(module.body)
        if between > 1:
            frame.regions.append(Loop(between, self.number))
            nodes.append(Mark(frame.regions[-1], False))
        if module.region in REGIONS:
            groups.append(Group(module, self.number, len(nodes), times=frame.times))
            frame.regions.append(groups[-1])
            self.made.blocks.extend(groups[-1:] if module.region == Region.BLOCK else [])
            nodes.append(Mark(groups[-1], False))

    def _end_run(self, frame: _Frame) -> None:
        """Layers that began with parts of one tensor hand over a tensor each. Behind the last run a module's state is
        again what it was in front of the first."""
        for region in reversed(frame.regions):
            if isinstance(region, Loop):
                region.length = self.number - region.first
            else:
                region.end = len(self.made.nodes)
            self.made.nodes.append(Mark(region, True))
        for into, out in frame.module.carries:
            self.cells[into] = self.cells[out.storage]
            self.gradients.known[into.storage] = self.gradients.wants(out)
        if frame.run + 1 < min(frame.runs, self.first + 2):
            self._begin_run(frame)
            return
        for tensor, (cells, wanted) in frame.given.items():
            self.gradients.known[tensor.storage] = wanted
            if cells:
                self.cells[tensor] = cells
            elif tensor.of:
                self.cells.pop(tensor, None)  # what it is a part of stands there again
        self.frames.pop()

    def _step(self, op: Op, module: Module) -> Step:
        number, wants, traits, cells = self.number, self.gradients.wants, op.traits, self.cells
        self.number += 1
        reads: dict[Cell, None] = {}
        for tensor in op.inputs:
            if not isinstance(tensor.storage, Param) and tensor.role != "buffer":
                place = tensor.within(cells)
                if place not in cells:  # no op made it: it entered from outside
                    self._make(place, module)
                reads.update((cell.part_of or cell, None) for cell in cells[place])
        self.gradients.follow(op)
        whole = cells[op.inputs[0].within(cells)][0] if traits.part else None
        output = self._make(op.output, module, whole)
        aux = {name: self._make(tensor, module, whole) for name, tensor in op.beside.items()}
        makes = [] if whole else [output, *aux.values()]
        self.made.last_read.update(dict.fromkeys(reads, number))
        saved, grads = list(traits.saves(op, wants, self.policy)), self._wanted(op)
        if not {*op.inputs, op.output, *op.beside.values()} >= set(saved):
            raise ValueError(f"{op.kind} saves a tensor that it neither reads nor makes")
        # where they are stored; parameters and buffers are there anyway
        stored = (cell for tensor in saved for cell in cells.get(tensor.within(cells), ()))
        saves = list(dict.fromkeys(cell.part_of or cell for cell in stored))
        weights = [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]
        step = Step(number, op, module, list(reads), output, aux, saves, grads, makes, weights)
        step.saved_weights = frozenset(one.storage for one in saved if isinstance(one.storage, Param))
        step.packs, step.times, step.is_leaf = bool(saved), self.frames[-1].times, traits.leaf and not grads
        step.log_probabilities = aux.get(traits.loss_of_logits)
        step.scratch = [self.size(tensor, module) for tensor in traits.scratch(op, wants)]
        step.gradient_scratch = [self.size(tensor, module) for tensor in traits.gradient.scratch(op, wants)]
        return step

    def _make(self, tensor: Tensor, module: Module, whole: Cell | None = None) -> Cell:
        """A cell of its own, or what is seen of the `whole` one, where that is stored."""
        made = Cell(tensor, part_of=whole and (whole.part_of or whole))
        self.made.bytes[made], self.made.last_read[made] = self.size(tensor, module), self.number - 1
        self.cells[tensor] = [made]
        return made

    def _wanted(self, op: Op) -> list[Wanted]:
        """The inputs that want a gradient; a number tells apart the copies of a parameter in repeated modules."""
        found: list[Wanted] = []
        wanting = (tensor.within(self.cells) for tensor in op.inputs if self.gradients.wants(tensor))
        for tensor in dict.fromkeys(wanting):
            if not isinstance(tensor, Param):
                found.extend(self.cells[tensor])
                continue
            copy = 0
            for module in tensor.owner.ancestry:
                if module.parent:
                    copy = copy * (self.first + 2) + self.copies.get(module, 0)
            found.append((tensor, copy))
        return found
