"""The tree unrolled into the order in which it runs, each tensor a cell of memory of its own.

    nodes = schedule(Unrolling(policy, trainable, size).run(root), [autocast, checkpoint("block")])

A module that runs a hundred times is followed through its first runs, one in the middle and the last; the one in the
middle stands for all like it (`Loop`). So a step of any depth is a few hundred ops, and its memory is still exact.
Whatever changes what is saved (mixed precision, checkpointing, a compiler, chunks of the loss) is a pass: a function
that changes the nodes in place. Passes run one after the other, so that each finds what the ones before it left.
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


@dataclass(eq=False)
class Cell:
    """A storage: how big, when it was last read going forward, and which ops keep it for the backward pass."""

    tensor: Tensor
    bytes: int
    last_read: int = -1
    keepers: list[int] = field(default_factory=list)  # numbers of steps
    is_logits: bool = False
    widened: bool = False  # to fp32, where the recipe computes in less
    of_input: bool = False  # a copy that an op makes of what it reads before it computes


@dataclass(eq=False)
class Step:
    """An op as it runs once. `grads` are the inputs that want a gradient, a parameter or a cell each."""

    number: int
    op: Op
    module: Module
    reads: list[Cell]
    makes: list[Cell]  # the output first, unless it is a view
    keeps: list[Cell]
    grads: list[tuple[Param, int] | Cell]  # a parameter with the number of its copy
    weights: list[Param]
    saved: Callable[[Policy], list[Cell]]  # what its op saves where it computes in that precision

    def beside(self, name: str) -> int:
        """Bytes of what the op makes under that name besides its output; 0 where it makes none."""
        cells = zip(self.op.beside, self.makes[1:], strict=False)  # passes may have added copies behind them
        return next((cell.bytes for made, cell in cells if made == name), 0)


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
    done: frozenset[Op] = frozenset()  # not computed again
    results: dict[Cell, Module] = field(default_factory=dict)  # made inside and kept, each with where it is made


Node = Step | Loop | Group
Pass = Callable[[list[Node]], None]


class Unrolling:
    """Walks the tree in the order of computation."""

    def __init__(self, policy: Policy, trainable: Trainable, size: Callable[[Tensor, Module], int]) -> None:
        self.policy, self.size = policy, size
        self.gradients = Gradients(trainable)
        self.cells: dict[Tensor, list[Cell]] = {}  # one for each storage, or what was handed over in its place
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
        makes = [self._made(tensor, module) for tensor in (op.output, *op.beside.values())]
        saved = self._saved(op)
        for cell in reads:
            cell.last_read = number
        wanting = list(dict.fromkeys(tensor.within(self.cells) for tensor in op.inputs if wants(tensor)))
        grads: list[tuple[Param, int] | Cell] = []
        for tensor in wanting:
            grads.extend([(tensor, self._copy(tensor))] if isinstance(tensor, Param) else self.cells[tensor])
        weights = [tensor.storage for tensor in op.inputs if isinstance(tensor.storage, Param)]
        return Step(number, op, module, list(dict.fromkeys(reads)), makes, saved(self.policy), grads, weights, saved)

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
        made = Cell(tensor, self.size(tensor, module), self.number - 1)
        self.cells[tensor] = [made]
        return made


def schedule(nodes: list[Node], passes: Iterable[Pass] = ()) -> list[Node]:
    """The whole step after all passes, every cell knowing who keeps it."""
    for change in passes:
        change(nodes)
    _note_keepers(nodes)
    return nodes


def _note_keepers(nodes: list[Node]) -> None:
    """What is recomputed is not kept by those who need it, only what enters it, and some of its results."""
    for node in nodes:
        if isinstance(node, Step):
            for cell in node.keeps:
                cell.keepers.append(node.number)
        elif isinstance(node, Group) and node.recomputed:
            for cell in (*node.reads, *node.results):
                cell.keepers.append(node.first)
        else:
            _note_keepers(node.body)


class Saved(NamedTuple):
    """A cell that is alive after the forward pass, for the first who saved it: the module of an op, or a recomputed
    block; `times` is how many like it there are."""

    module: Module
    cell: Cell
    times: int

    @property
    def bytes(self) -> int:
        return self.times * self.cell.bytes


def saved_cells(nodes: list[Node], times: int = 1) -> Iterator[Saved]:
    """Everything that is saved for the backward pass."""
    for node in nodes:
        if isinstance(node, Loop):
            yield from saved_cells(node.body, times * node.times)
        elif isinstance(node, Step):
            yield from (Saved(node.module, cell, times) for cell in node.keeps if cell.keepers[0] == node.number)
        elif node.recomputed:
            entering = dict.fromkeys(node.reads, node.module) | node.results
            yield from (Saved(place, cell, times) for cell, place in entering.items() if cell.keepers[0] == node.first)
        else:
            yield from saved_cells(node.body, times)


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
