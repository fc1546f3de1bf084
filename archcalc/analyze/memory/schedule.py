"""The tree unrolled into the order in which it runs, each tensor a cell of memory of its own.

    step = schedule(root, policy, trainable, size, [autocast(), checkpoint("block")])
    step.nodes, step.bytes[cell], step.saved()

A module that runs a hundred times is followed through its first runs, one in the middle and the last; the one in the
middle stands for all like it (`Loop`). So a step of any depth is a few hundred ops, and its memory is still exact.
Whatever changes what is saved (mixed precision, checkpointing, a compiler, chunks of the loss) is a pass: a function
that changes the schedule. Passes run one after the other, so that each finds what the ones before it left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from archcalc.analyze.memory.nodes import Cell, Group, Loop, Node, Step, groups, read_from_outside, steps
from archcalc.core.execution import Gradients, Trainable
from archcalc.core.ir import Module, Op, Param, Region, Tensor
from archcalc.core.kernels import as_op, is_kernel
from archcalc.core.precision import Policy
from archcalc.core.tree import ancestors

__all__ = [
    "Cell",
    "Group",
    "Loop",
    "Node",
    "Pass",
    "Saved",
    "Schedule",
    "Step",
    "groups",
    "read_from_outside",
    "savers_in",
    "schedule",
    "steps",
]

FIRST = 2  # runs until nothing changes any more from one to the next: the second may see other gradients than the first
REGIONS = (Region.BLOCK, Region.CORE)  # modules whose runs are groups


class Runs(NamedTuple):
    """How many runs of a module are followed: the first ones, before one stands for all up to the last; of modules
    within no other that runs often, so many at most, and what is left out is a fold."""

    first: int
    most: int = 2**40


LOOPED, EVERY = Runs(FIRST), Runs(2**40)
ENDS = EVERY._replace(most=6)  # two in front, two in the middle, two at the end


class Fold(NamedTuple):
    """A module of which only some runs are followed: the number of each run's first step, and of the step behind."""

    starts: tuple[int, ...]
    left_out: int

    def has(self, number: int) -> bool:
        return self.starts[0] <= number < self.starts[-1]


class Saved(NamedTuple):
    """A cell that is alive after the forward pass, for the first who saved it: the module of an op, or a recomputed
    block; `times` is how many like it there are, `bytes` what all of them take."""

    module: Module
    cell: Cell
    times: int
    bytes: int


@dataclass
class Schedule:
    """A step in its order. The tables say of every cell what passes may change."""

    nodes: list[Node]
    bytes: dict[Cell, int]
    last_read: dict[Cell, int]  # number of the step, going forward
    entering: list[Cell] = field(default_factory=list)  # ids, images: what a training loop gives to the model
    seen: dict[Cell, int] = field(default_factory=dict)  # bytes of parts of other cells, which their gradients take
    logits: set[Cell] = field(default_factory=set)  # accounted as logits, not as activations
    chunks: int = 1  # that they are made in, one after the other
    outliving: set[Cell] = field(default_factory=set)  # kept as long as the graph lives, and not the backward pass
    savers: dict[Cell, list[int]] = field(default_factory=dict)  # numbers of steps, or of a recomputed region's first
    offloaded: dict[Group, list[Cell]] = field(default_factory=dict)  # what of a block's leaves for host RAM
    folds: list[Fold] = field(default_factory=list)

    def gradient_bytes(self, cell: Cell) -> int:
        """A gradient is as large as its tensor, also where that is a part of another one."""
        return self.seen.get(cell, self.bytes[cell])

    def steps(self) -> Iterator[Step]:
        """Every step, in order."""
        return steps(self.nodes)

    def groups(self) -> Iterator[Group]:
        """Every block, in order, and what is recomputed within."""
        return groups(self.nodes)

    def add_copy(self, step: Step, cell: Cell, size: int, *, of_input: bool = False) -> Cell:
        """A copy of a cell that the step makes for itself."""
        tensor = cell.tensor if of_input else Tensor(cell.tensor.axes, cell.tensor.role)
        return self.add(step, tensor, size, of_input=of_input)

    def add(self, step: Step, tensor: Tensor, size: int, *, of_input: bool = False) -> Cell:
        """One more tensor that the step makes."""
        made = Cell(tensor, of_input)
        self.bytes[made], self.last_read[made] = size, step.number
        step.copies.append(made)
        return made

    def sizes_of(self, cells: Iterable[Cell]) -> dict[Cell, int]:
        """Bytes of each, in all runs of the loops that make it."""
        times = dict(_times(self.nodes))
        return {cell: self.bytes[cell] * times.get(cell, 1) for cell in cells}

    def saved(self) -> list[Saved]:
        """Everything that is saved for the backward pass."""
        found = _saved(self.nodes, self.savers)
        return [Saved(module, cell, times, times * self.bytes[cell]) for module, cell, times in found]


Pass = Callable[[Schedule], None]


def schedule(
    root: Module,
    policy: Policy,
    trainable: Trainable,
    size: Callable[[Tensor, Module], int],
    passes: Iterable[Pass] = (),
    runs: Runs = LOOPED,
) -> Schedule:
    """One step of the model, after all passes."""
    unrolling = Unrolling(policy, trainable, size, runs)
    nodes = unrolling.run(root)
    made = Schedule(nodes, unrolling.bytes, unrolling.last_read, unrolling.entering, unrolling.seen)
    made.folds = unrolling.folds
    for change in passes:
        change(made)
    for cell, number in savers_in(made.nodes):
        made.savers.setdefault(cell, []).append(number)
    return made


class Unrolling:
    """Walks the tree in the order of computation."""

    def __init__(
        self, policy: Policy, trainable: Trainable, size: Callable[[Tensor, Module], int], runs: Runs = LOOPED
    ) -> None:
        self.policy, self.size, self.first, self.most = policy, size, runs.first, runs.most
        self.folds: list[Fold] = []
        self.depth = 0  # of modules that run often around the one that is running
        self.gradients = Gradients(trainable)
        self.cells: dict[Tensor, list[Cell]] = {}  # one for each storage, or what was handed over in its place
        self.bytes: dict[Cell, int] = {}
        self.last_read: dict[Cell, int] = {}
        self.entering: list[Cell] = []
        self.seen: dict[Cell, int] = {}
        self.copies: dict[Module, int] = {}  # which copy of a module is running
        self.turns: dict[Module, int] = {}  # and how often it ran before, in a row
        self.number = 0

    def run(self, module: Module) -> list[Node]:
        """All runs of a module."""
        left_out = self._left_out(module)
        times, starts = int(module.runs) - left_out, list[int]()
        found: list[Node] = []
        given = {into: (self.cells.get(into), self.gradients.wants(into)) for into, _ in module.carries}
        self.depth += times > 1
        for run in range(min(times, self.first + 2)):
            starts.append(self.number)
            self.copies[module], self.turns[module] = run // int(module.calls), run
            body = self._once(module)
            between = times - self.first - 1 if run == self.first and times > self.first + 2 else 1
            found.extend([Loop(body, between)] if between > 1 else body)
            self._hand_over(module)
        self.depth -= times > 1
        if left_out:
            self.folds.append(Fold((*starts, self.number), left_out))
        for tensor, (cells, wanted) in given.items():
            self.gradients.known[tensor.storage] = wanted
            if cells:
                self.cells[tensor] = cells
            elif tensor.base:
                self.cells.pop(tensor, None)  # what it is a part of stands there again
        return found

    def _left_out(self, module: Module) -> int:
        """Runs that are not followed. Those that share their weights are, since gradients of all add up."""
        is_alone = not self.depth and int(module.calls) == 1
        return max(int(module.runs) - self.most, 0) if is_alone else 0

    def _hand_over(self, module: Module) -> None:
        """Layers that began with parts of one tensor hand over a tensor each."""
        for into, out in module.carries:
            self.cells[into] = self.cells[out.storage]
        self.gradients.hand_over(module)

    def _once(self, module: Module) -> list[Node]:
        first = self.number
        body: list[Node] = []
        for item in module.body:
            if isinstance(item, Module) and item.is_first_only and any(map(self.turns.get, ancestors(module))):
                continue
            if is_kernel(item):
                body.append(self._step(as_op(item), item))
            elif isinstance(item, Module):
                body.extend(self.run(item))
            elif not item.traits.allocates:
                self._enter(item, module)
                self.gradients.follow(item)
            else:
                body.append(self._step(item, module))
        return [Group(body, module, first)] if module.region in REGIONS else body

    def _enter(self, op: Op, module: Module) -> None:
        """What a training loop gives to the model."""
        if op.traits.enters and op.output not in self.cells:
            self.entering.append(self._made(op.output, module))

    def _step(self, op: Op, module: Module) -> Step:
        number, wants = self.number, self.gradients.wants
        self.number += 1
        inputs = [tensor for tensor in op.inputs if not isinstance(tensor.storage, Param)]
        reads = [cell.place for tensor in inputs for cell in self._read(tensor, module)]
        self.gradients.follow(op)
        made = partial(self._part, op.inputs[0]) if op.traits.part else self._made
        output = made(op.output, module)
        beside = {name: made(tensor, module) for name, tensor in op.beside.items()}
        kept = list(op.traits.saves(op, wants, self.policy))
        saves = self._saved(op, kept)
        self.last_read.update(dict.fromkeys(reads, number))
        wanting = list(dict.fromkeys(tensor.within(self.cells) for tensor in op.inputs if wants(tensor)))
        grads: list[tuple[Param, int] | Cell] = []
        for tensor in wanting:
            grads.extend([(tensor, self._copy(tensor))] if isinstance(tensor, Param) else self.cells[tensor])
        weights = [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]
        once = list(dict.fromkeys(reads))
        step = Step(number, op, module, once, output, beside, saves, grads, weights)
        step.saved_weights = frozenset(one.storage for one in kept if isinstance(one.storage, Param))
        step.packs = bool(kept)
        step.scratch = [self.size(tensor, module) for tensor in op.traits.scratch(op, wants)]
        step.gradient_scratch = [self.size(tensor, module) for tensor in op.traits.gradient_scratch(op, wants)]
        return step

    def _saved(self, op: Op, kept: list[Tensor]) -> list[Cell]:
        """Where the tensors are stored that the op saves; parameters are there anyway."""
        if not {*op.inputs, op.output, *op.beside.values()} >= set(kept):
            raise ValueError(f"{op.kind} saves a tensor that it neither reads nor makes")
        places = (tensor.within(self.cells) for tensor in kept)
        return list(dict.fromkeys(cell.place for place in places for cell in self.cells.get(place, ())))

    def _copy(self, param: Param) -> int:
        """A number that tells apart the copies of a parameter in repeated modules."""
        place, module = 0, param.owner
        while module.parent:
            place = place * (self.first + 2) + self.copies.get(module, 0)
            module = module.parent
        return place

    def _read(self, tensor: Tensor, module: Module) -> list[Cell]:
        """What is read; what no op made entered from outside."""
        place = tensor.within(self.cells)
        if place not in self.cells:
            self._made(place, module)
        return self.cells[place]

    def _part(self, of: Tensor, tensor: Tensor, module: Module) -> Cell:
        """What is seen of the input, where that is stored."""
        (whole,) = self.cells[of.within(self.cells)]
        made = Cell(tensor, part_of=whole)
        self.bytes[made], self.last_read[made] = 0, self.number - 1
        self.seen[made] = self.size(tensor, module)
        self.cells[tensor] = [made]
        return made

    def _made(self, tensor: Tensor, module: Module) -> Cell:
        made = Cell(tensor)
        self.bytes[made], self.last_read[made] = self.size(tensor, module), self.number - 1
        self.cells[tensor] = [made]
        return made


def savers_in(nodes: list[Node]) -> Iterator[tuple[Cell, int]]:
    """The tensors of a checkpointed region are not saved, only its inputs and some of its results."""
    for node in nodes:
        if isinstance(node, Step):
            yield from ((cell, node.number) for cell in node.saves)
        elif isinstance(node, Group) and node.recomputed:
            yield from ((cell, node.first) for cell in (*node.reads, *node.results))
        else:
            yield from savers_in(node.body)


def _saved(nodes: list[Node], savers: dict[Cell, list[int]], times: int = 1) -> Iterator[tuple[Module, Cell, int]]:
    """Every saved cell at the first who saves it, and how often."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from _saved(node.body, savers, times * node.times)
        elif isinstance(node, Step):
            yield from ((node.module, cell, times) for cell in node.saves if savers[cell][0] == node.number)
        elif node.recomputed:
            entering = dict.fromkeys(node.reads, node.module) | node.results
            yield from ((place, cell, times) for cell, place in entering.items() if savers[cell][0] == node.first)
        else:
            yield from _saved(node.body, savers, times)


def _times(nodes: list[Node], times: int = 1) -> Iterator[tuple[Cell, int]]:
    """How often every cell is made."""
    for node in nodes:
        if isinstance(node, Step):
            yield from ((cell, times) for cell in node.makes)
        else:
            yield from _times(node.body, times * node.times if isinstance(node, Loop) else times)
