"""The properties of a kind of op; `archcalc.core.ops` has the table and explains each property."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from archcalc.core.count import Count
from archcalc.core.tensors import Dim, Tensor

if TYPE_CHECKING:
    from archcalc.core.precision import Policy


class Op(Protocol):
    """What the rules of a kind read of an op; `archcalc.core.ir.Op` has it."""

    @property
    def inputs(self) -> tuple[Tensor, ...]: ...
    @property
    def output(self) -> Tensor: ...
    @property
    def over(self) -> tuple[Dim, ...]: ...
    @property
    def select(self) -> tuple[Dim, ...]: ...
    @property
    def beside(self) -> dict[str, Tensor]: ...
    @property
    def traits(self) -> Kind: ...


Wants = Callable[[Tensor], bool]  # does a tensor want a gradient?
Flops = Callable[[Op], Count]
Backward = Callable[[Op, Wants], Count]
Saves = Callable[[Op, Wants, "Policy"], Iterable[Tensor]]
Moved = Iterable[tuple[Tensor, Count]]  # tensors, and how many elements of each
Moves = Callable[[Op], Moved]
Scratch = Callable[[Op, Wants], Iterable[Tensor]]  # tensors that exist only while an op runs


@dataclass(frozen=True)
class Kind:
    """The properties of a kind of op."""

    about: str
    flops: Flops
    saves: Saves
    backward: Backward | None = None  # None: once for each input that wants a gradient
    beside: tuple[tuple[str, str, str], ...] = ()  # name, role, and the shape it has: like what
    role: str = "act"  # of the output
    matrix: bool = False
    products: Backward | None = None  # matrix products in the backward pass of an op that is none itself
    view: bool = False
    part: bool = False
    allocates: bool = True
    contraction: bool = False
    joins_product: bool = False
    attention_kernel: bool = False
    softmax: str = ""
    reads_rows: bool = False
    loss_of_logits: str = ""
    reads_logits: bool = False
    autocast: str = ""
    converts: str = ""
    own_kernel: bool = False
    passes_gradient: bool = False
    divides_gradient: bool = False
    promotes: bool = False
    gradient_is_view: Callable[[Op], bool] = lambda op: False
    expensive: bool = False
    row_statistics: int = 0
    enters: bool = False
    leaf: bool = False
    gives_beside: bool = False
    gradient_in_input: bool = False
    gathers: bool = False
    scatters: bool = False
    into_buffer: bool = False
    of_values: bool = False
    scratch: Scratch = lambda op, wants: ()
    gradient_scratch: Scratch = lambda op, wants: ()
    summed: Callable[[Op], Iterable[Tensor]] = lambda op: ()
    reads: Moves = lambda op: every_input(op)
    writes: Moves = lambda op: its_whole_output(op)


def backward(op: Op, wants: Wants) -> Count:
    """FLOPs of the gradients of an op's inputs."""
    kind = op.traits
    if kind.backward:
        return kind.backward(op, wants)
    return kind.flops(op) * Count(sum(wants(tensor) for tensor in op.inputs))


def every_input(op: Op) -> Moved:
    return [(tensor, tensor.size) for tensor in op.inputs]


def its_whole_output(op: Op) -> Moved:
    return [(op.output, op.output.size)]
