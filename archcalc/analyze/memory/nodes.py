"""The ops of a step in the order in which they run: single ones, loops of them, and groups that may be recomputed.

Each tensor is a cell of memory of its own; `archcalc.analyze.memory.schedule` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from archcalc.core.ir import Module, Op, Param, Tensor


@dataclass(frozen=True, eq=False)
class Cell:
    """A storage. Its size, last reader and savers are tables of the schedule, where passes change them."""

    tensor: Tensor
    of_input: bool = False  # a copy that an op makes of what it reads before it computes
    part_of: Cell | None = None  # what it is seen in, if it has no storage of its own, only a gradient

    @property
    def place(self) -> Cell:
        """The cell that holds its storage."""
        return self.part_of.place if self.part_of else self


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
    saved_weights: frozenset[Param] = frozenset()  # of those, what the backward pass needs
    packs: bool = False  # saves a tensor for the backward pass, be it a parameter
    scratch: list[int] = field(default_factory=list)  # bytes that exist only while it runs
    gradient_scratch: list[int] = field(default_factory=list)  # and only while its gradients are computed
    copies: list[Cell] = field(default_factory=list)  # of its inputs, which passes add

    @property
    def makes(self) -> tuple[Cell, ...]:
        """What it allocates; parts of a tensor lie in that tensor."""
        return tuple(self.copies) if self.op.traits.part else (*self.results, *self.copies)

    @property
    def results(self) -> tuple[Cell, ...]:
        """What gradients may arrive for."""
        return (self.output, *self.beside.values())


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
