"""The properties of a kind of op; `archcalc.core.ops` has the table and explains each property."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from archcalc.core.count import Count
from archcalc.core.tensors import Tensor

if TYPE_CHECKING:
    from archcalc.core.ir import Op
    from archcalc.core.precision import Policy


Wants = Callable[[Tensor], bool]  # does a tensor want a gradient?
Flops = Callable[["Op"], Count]
Backward = Callable[["Op", Wants], Count]
Saves = Callable[["Op", Wants, "Policy"], Iterable[Tensor]]
Moved = Iterable[tuple[Tensor, Count]]  # tensors, and how many elements of each
Moves = Callable[["Op"], Moved]
Scratch = Callable[["Op", Wants], Iterable[Tensor]]  # tensors that exist only while an op runs


@dataclass(frozen=True, eq=False, repr=False)
class Saved:
    """Tensors kept for the backward pass if the first input wants a gradient, or with `any_input` if any of them does.

    `input` is the first one, `others` are those behind it, `weight` the first of these; `indices` are all in front of
    a table; `beside` are the tensors that an op makes besides its output."""

    tensors: tuple[str, ...] = ()
    any_input: bool = False

    def __call__(self, op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
        deciding = op.inputs if self.any_input else op.inputs[:1]
        if not self.tensors or not any(map(wants, deciding)):
            return ()
        known = {
            "input": op.inputs[:1],
            "others": op.inputs[1:],
            "weight": op.inputs[1:2],
            "indices": op.inputs[:-1],
            "output": (op.output,),
            "beside": op.beside.values(),
        }
        return [tensor for name in self.tensors for tensor in known[name]]


@dataclass(frozen=True, eq=False, repr=False)
class Each:
    """So many FLOPs per element of the output, or of the first input; norms take one more for each weight."""

    number: int
    of_input: bool = False
    and_weights: bool = False

    def __call__(self, op: Op) -> Count:
        number = self.number + len(op.inputs) - 1 if self.and_weights else self.number
        return Count(number) * (op.inputs[0] if self.of_input else op.output).size


def none(op: Op) -> Count:
    """Copies, views and look-ups cost no FLOPs."""
    return Count(0)


def every_input(op: Op) -> Moved:
    return [(tensor, tensor.size) for tensor in op.inputs]


class Gradient(NamedTuple):
    """How the gradients of an op's inputs come about."""

    passes: bool = False  # it is that of the output, without a storage of its own
    divides: bool = False  # they are parts of that of the output, without storages of their own
    promotes: bool = False  # of an input that may be narrower than the output, it is computed wide and cast
    in_input: bool = False  # that of the first input is written into that input's storage
    is_view: Callable[[Op], bool] = lambda op: False  # of what was computed: autograd adds nothing to it in place
    scratch: Scratch = lambda op, wants: ()  # tensors that exist only while they are computed
    summed: Callable[[Op], Iterable[Tensor]] = lambda op: ()  # inputs that were broadcast: summed by autograd's engine


NOTHING = Saved()
USUAL = Gradient()


class Kind(NamedTuple):
    """The properties of a kind of op."""

    about: str
    flops: Flops = none
    saves: Saves = NOTHING
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
    gradient: Gradient = USUAL
    expensive: bool = False
    row_statistics: int = 0
    enters: bool = False
    leaf: bool = False
    gives_beside: bool = False
    collective: str = ""
    of_values: bool = False
    scratch: Scratch = lambda op, wants: ()
    reads: Moves = every_input
    writes: Moves = lambda op: [(op.output, op.output.size)]


def backward(op: Op, wants: Wants) -> Count:
    """FLOPs of the gradients of an op's inputs."""
    kind = op.traits
    if kind.backward:
        return kind.backward(op, wants)
    return kind.flops(op) * Count(sum(wants(tensor) for tensor in op.inputs))
