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
from typing import NamedTuple

from archcalc.core.execution import Gradients, Trainable
from archcalc.core.ir import Module, Op, Param, Region, Tensor
from archcalc.core.kernels import as_op, is_kernel
from archcalc.core.precision import Policy

FIRST = 2  # runs until nothing changes any more from one to the next: the second may see other gradients than the first
REGIONS = (Region.BLOCK, Region.CORE)  # modules whose runs are groups


@dataclass(frozen=True, eq=False)
class Cell:
    """A storage. Its size, last reader and savers are tables of the schedule, where passes change them."""

    tensor: Tensor
    of_input: bool = False  # a copy that an op makes of what it reads before it computes


@dataclass(eq=False)
class Step:
    """An op as it runs once. `grads` are the inputs that want a gradient, a parameter or a cell each."""

    number: int
    op: Op
    module: Module
    reads: list[Cell]
    output: Cell
    beside: dict[str, Cell]  # what the op makes besides its output, by name
    saves: list[Cell]  # for the backward pass
    grads: list[tuple[Param, int] | Cell]  # a parameter with the number of its copy
    weights: list[Param]
    saved_in: Callable[[Policy], list[Cell]]  # what its op saves where it computes in that precision
    copies: list[Cell] = field(default_factory=list)  # of its inputs, which passes add

    @property
    def makes(self) -> tuple[Cell, ...]:
        return (self.output, *self.beside.values(), *self.copies)


@dataclass(eq=False)
class Loop:
    """Steps that run `times` times in a row, each time alike."""

    body: list[Node]
    times: int


@dataclass(eq=False)
class Group:
    """One run of a block, or of attention's core: what may be recomputed, all or all but some results."""

    body: list[Node]
    module: Module
    first: int  # number of its first step
    recomputed: bool = False
    reads: list[Cell] = field(default_factory=list)  # made outside, kept while the inside is not
    done: frozenset[Op] = frozenset()  # not recomputed
    results: dict[Cell, Module] = field(default_factory=dict)  # made inside and kept, each with where it is made


Node = Step | Loop | Group


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
    logits: set[Cell] = field(default_factory=set)  # accounted as logits, not as activations
    savers: dict[Cell, list[int]] = field(default_factory=dict)  # numbers of steps, or of a recomputed region's first

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
) -> Schedule:
    """One step of the model, after all passes."""
    unrolling = Unrolling(policy, trainable, size)
    made = Schedule(unrolling.run(root), unrolling.bytes, unrolling.last_read)
    for change in passes:
        change(made)
    for cell, number in _savers(made.nodes):
        made.savers.setdefault(cell, []).append(number)
    return made


class Unrolling:
    """Walks the tree in the order of computation."""

    def __init__(self, policy: Policy, trainable: Trainable, size: Callable[[Tensor, Module], int]) -> None:
        self.policy, self.size = policy, size
        self.gradients = Gradients(trainable)
        self.cells: dict[Tensor, list[Cell]] = {}  # one for each storage, or what was handed over in its place
        self.bytes: dict[Cell, int] = {}
        self.last_read: dict[Cell, int] = {}
        self.copies: dict[Module, int] = {}  # which copy of a module is running
        self.number = 0

    def run(self, module: Module) -> list[Node]:
        """All runs of a module."""
        times = int(module.runs)
        found: list[Node] = []
        given = {into: (self.cells.get(into), self.gradients.wants(into)) for into, _ in module.carries}
        for run in range(min(times, FIRST + 2)):
            self.copies[module] = run // int(module.calls)
            body = self._once(module)
            between = times - FIRST - 1 if run == FIRST and times > FIRST + 2 else 1
            found.extend([Loop(body, between)] if between > 1 else body)
            self._hand_over(module)
        for tensor, (cells, wanted) in given.items():
            self.gradients.known[tensor.storage] = wanted
            if cells:
                self.cells[tensor] = cells
            elif tensor.base:
                self.cells.pop(tensor, None)  # what it is a part of stands there again
        return found

    def _hand_over(self, module: Module) -> None:
        """Layers that began with parts of one tensor hand over a tensor each."""
        for into, out in module.carries:
            self.cells[into] = self.cells[out.storage]
        self.gradients.hand_over(module)

    def _once(self, module: Module) -> list[Node]:
        first = self.number
        body: list[Node] = []
        for item in module.body:
            if is_kernel(item):
                body.append(self._step(as_op(item), item))
            elif isinstance(item, Module):
                body.extend(self.run(item))
            elif not item.traits.allocates:
                self.gradients.follow(item)
            else:
                body.append(self._step(item, module))
        return [Group(body, module, first)] if module.region in REGIONS else body

    def _step(self, op: Op, module: Module) -> Step:
        number, wants = self.number, self.gradients.wants
        self.number += 1
        inputs = [tensor for tensor in op.inputs if not isinstance(tensor.storage, Param)]
        reads = [cell for tensor in inputs for cell in self._read(tensor, module)]
        self.gradients.follow(op)
        output = self._made(op.output, module)
        beside = {name: self._made(tensor, module) for name, tensor in op.beside.items()}
        saved = self._saved(op)
        self.last_read.update(dict.fromkeys(reads, number))
        wanting = list(dict.fromkeys(tensor.within(self.cells) for tensor in op.inputs if wants(tensor)))
        grads: list[tuple[Param, int] | Cell] = []
        for tensor in wanting:
            grads.extend([(tensor, self._copy(tensor))] if isinstance(tensor, Param) else self.cells[tensor])
        weights = [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]
        once = list(dict.fromkeys(reads))
        return Step(number, op, module, once, output, beside, saved(self.policy), grads, weights, saved)

    def _saved(self, op: Op) -> Callable[[Policy], list[Cell]]:
        """What the op saves, given the precision it computes in; cells and gradients are those of this run."""
        tensors = (*op.inputs, op.output, *op.beside.values())
        wanting = {tensor for tensor in tensors if self.gradients.wants(tensor)}
        found = {tensor: tensor.within(self.cells) for tensor in tensors}
        cells = {tensor: self.cells[place] for tensor, place in found.items() if place in self.cells}

        def saved(policy: Policy) -> list[Cell]:
            kept = list(op.traits.saves(op, wanting.__contains__, policy))
            if not found.keys() >= set(kept):
                raise ValueError(f"{op.kind} saves a tensor that it neither reads nor makes")
            return list(dict.fromkeys(cell for tensor in kept for cell in cells.get(tensor, ())))

        return saved

    def _copy(self, param: Param) -> int:
        """A number that tells apart the copies of a parameter in repeated modules."""
        place, module = 0, param.owner
        while module.parent:
            place = place * (FIRST + 2) + self.copies.get(module, 0)
            module = module.parent
        return place

    def _read(self, tensor: Tensor, module: Module) -> list[Cell]:
        """What is read; what no op made entered from outside."""
        place = tensor.within(self.cells)
        if place not in self.cells:
            self._made(place, module)
        return self.cells[place]

    def _made(self, tensor: Tensor, module: Module) -> Cell:
        made = Cell(tensor)
        self.bytes[made], self.last_read[made] = self.size(tensor, module), self.number - 1
        self.cells[tensor] = [made]
        return made


def _savers(nodes: list[Node]) -> Iterator[tuple[Cell, int]]:
    """The tensors of a checkpointed region are not saved, only its inputs and some of its results."""
    for node in nodes:
        if isinstance(node, Step):
            yield from ((cell, node.number) for cell in node.saves)
        elif isinstance(node, Group) and node.recomputed:
            yield from ((cell, node.first) for cell in (*node.reads, *node.results))
        else:
            yield from _savers(node.body)


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


def steps(nodes: list[Node]) -> Iterator[Step]:
    """Every step, in order."""
    for node in nodes:
        if isinstance(node, Step):
            yield node
        else:
            yield from steps(node.body)


def groups(nodes: list[Node]) -> Iterator[Group]:
    """Every block, in order, and what is recomputed within."""
    for node in nodes:
        if isinstance(node, Group):
            yield node
        if not isinstance(node, Step):
            yield from groups(node.body)


def read_from_outside(body: list[Node]) -> dict[Cell, None]:
    inside = {cell for step in steps(body) for cell in step.makes}
    return {cell: None for step in steps(body) for cell in step.reads if cell not in inside}
