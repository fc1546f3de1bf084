"""The ops of a step in the order in which they run, one flat list: steps, and marks where loops and groups begin and
end.

Each tensor is a cell of memory of its own; `archcalc.simulate.build` makes them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from archcalc.core.ir import Module, Op, Param, Tensor

ParamCopy = tuple[Param, int]  # a parameter, and which copy of it in repeated modules


@dataclass(frozen=True, eq=False)
class Cell:
    """A storage. Its size and its last reader are tables of the schedule, where passes change them. A gradient is as
    large as its tensor, also where that is a part of another one."""

    tensor: Tensor
    of_input: bool = False  # a copy that an op makes of what it reads before it computes
    part_of: Cell | None = None  # where it is stored, if it has no storage of its own, only a gradient


Wanted = ParamCopy | Cell  # what a gradient is of


class WeightCopy(NamedTuple):
    """A weight that is cast, dequantised or staged for a product. One that is neither cached nor saved is freed behind
    the product, and made again for its gradients."""

    param: Param
    bytes: int
    part: str = "temporary"  # of the report
    is_cached: bool = False  # lives until the loss under autocast, else until the backward pass has used it
    is_saved: bool = False  # by autograd, where its block is not recomputed


@dataclass(eq=False)
class Step:
    """An op as it runs once. `grads` are the inputs that want a gradient, a parameter or a cell each."""

    number: int
    op: Op
    module: Module
    reads: list[Cell]
    output: Cell
    aux_outputs: dict[str, Cell]  # what the op makes besides its output, by name
    saves: list[Cell]  # for the backward pass
    grads: list[Wanted]
    makes: list[Cell]  # what it allocates, with what passes add; parts of a tensor lie in that tensor
    weights: list[Param]
    saved_weights: frozenset[Param] = frozenset()  # of those, what the backward pass needs
    packs: bool = False  # saves a tensor for the backward pass, be it a parameter
    times: int = 1  # how often it runs, in all runs of the loops around it
    log_probabilities: Cell | None = None  # what a loss over a vocabulary makes of its logits
    is_leaf: bool = False  # a gradient ends here: the graph behind the loss holds it, and the tensor that it is of
    scratch: list[int] = field(default_factory=list)  # bytes that exist only while it runs
    gradient_scratch: list[int] = field(default_factory=list)  # and only while its gradients are computed
    weight_copies: list[WeightCopy] = field(default_factory=list)
    cast_gradients: dict[Param, int] = field(default_factory=dict)  # bytes, before they are cast back by autocast
    added_in_place: frozenset[Param] = frozenset()  # weights whose gradient is added to the one there, without a copy
    gathered_keys: int = 0  # bytes of keys and values of all GPUs; going back, of their gradients too


@dataclass(eq=False)
class Loop:
    """Steps that run `times` times in a row, each time alike; the run before them and the one behind are as long."""

    times: int
    first: int  # number of its first step
    length: int = 0  # in steps

    def offset(self, number: int) -> int | None:
        """-1 for a step of the run before, 0 for one of its own, 1 for one of the run behind; None for any other."""
        found = (number - self.first) // self.length if self.length else 2
        return found if -1 <= found <= 1 else None


@dataclass(eq=False)
class Group:
    """One run of a block, or of attention's core: what may be recomputed, all or all but some results."""

    module: Module
    first: int  # number of its first step
    begin: int  # where its marks are in the schedule
    end: int = 0
    times: int = 1
    recomputed: bool = False
    reads: list[Cell] = field(default_factory=list)  # made outside, saved while the inside is not
    done: frozenset[Op] = frozenset()  # not recomputed
    results: dict[Cell, Module] = field(default_factory=dict)  # made inside and saved, each with where it is made
    gathered: tuple[int, ...] = ()  # bytes of each of its parameters, gathered from their shards while it runs
    reshards: bool = True  # its gathered weights are freed after the forward pass


class Mark(NamedTuple):
    """Where a loop or a group begins, or ends."""

    region: Loop | Group
    is_end: bool


Node = Step | Mark
