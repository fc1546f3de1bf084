"""What kinds of op cost, by rules that several of them share: elements moved, FLOPs, and what is saved for backward."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from archcalc.core.count import Count, product
from archcalc.core.errors import InputError
from archcalc.core.op_kind import Gradient, Kind, Moved, Saved, Wants
from archcalc.core.tensors import Dim, Tensor, axes, whole

if TYPE_CHECKING:
    from archcalc.core.ir import Op
    from archcalc.core.precision import Policy

# Elements read and written


def no_elements(op: Op) -> Moved:
    return ()


def chosen_rows(op: Op) -> Moved:
    """Elements read by a look-up: all indices, and as many table elements as the output has."""
    *indices, table = op.inputs
    return [*((tensor, tensor.size) for tensor in indices), (table, op.output.size)]


def chosen_numbers(op: Op) -> Moved:
    """Elements read by a gather: all indices, and as many elements of the first input as the output has."""
    row, *indices = op.inputs
    return [(row, op.output.size), *((tensor, tensor.size) for tensor in indices)]


def what_is_new(op: Op) -> Moved:
    """Appending to a cache writes only the new elements."""
    return [(op.output, tensor.size) for tensor in op.inputs[:1]]


# FLOPs


def multiply_add(op: Op) -> Count:
    """Two FLOPs for every combination of indices of the dims involved, without indexed (selected) dims."""
    met = {dim.name: dim for tensor in op.inputs for dim in tensor.dims if dim not in op.select}
    return 2 * product([dim.size for dim in met.values()])


def not_known(op: Op) -> NoReturn:
    """What archcalc does not know has no cost, rather than a guessed one."""
    fact = "archcalc does not know this activation: its FLOPs, and what training keeps of it, are not counted"
    hint = (
        "`params`, `shapes`, `summary`, `memory` and `fit` for inference need neither; one that is known counts: "
        "--set ffn.act=silu, and so wherever `show` has `act: unknown`"
    )
    raise InputError(fact, hint, fields=[("ffn", "act")])


def not_known_if_trained(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """Without a backward pass nothing is kept, whatever is computed."""
    if wants(op.inputs[0]):
        not_known(op)
    return ()


def normalised_rounds(op: Op) -> Count:
    """A sum and a division for each element, along rows and along columns, in each round."""
    return 4 * product([dim.size for dim in (*op.output.dims, *op.over)])


def not_kept_if_trained(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    if wants(op.inputs[0]):
        fact = "what a training step keeps of hyper-connections is not counted"
        raise InputError(fact, "`params`, `flops`, `memory` and `fit` for inference are", fields=[("streams",)])
    return ()


def product_of_output(op: Op) -> Count:
    """Two FLOPs for every number of the output and every number that is summed to it."""
    return 2 * product([dim.size for dim in (*op.output.dims, *op.over)])


def without_bias(op: Op, wants: Wants) -> Count:
    """A product for the gradient of the input, and one for those of the weights; a bias takes a sum."""
    x, *others = op.inputs
    weights = [tensor for tensor in others if len(tensor.axes) > 1]
    return product_of_output(op) * Count(wants(x) + any(map(wants, weights)))


def fused_attention(op: Op) -> Count:
    """Scores and weighted values: two products over queries, keys and heads, of a key's width and of a value's."""
    query, key, value, *_ = op.inputs
    batch, head, seq, each = query.dims
    pairs = product([dim.size for dim in (batch, head, seq, key.dims[2])])
    narrow = value.dims[3]
    return 2 * (2 * (pairs * each.size)) if narrow == each else 2 * (pairs * each.size) + 2 * (pairs * narrow.size)


def substitution(op: Op) -> Count:
    """Row i of a unit-triangular system takes i multiply-adds: half of two for each element and each row."""
    return product([dim.size for dim in (*op.output.dims, *op.over)])


def outer_product(op: Op, wants: Wants) -> Count:
    """The gradient of a system is the product of its right-hand side's gradient and its solution."""
    _, system = op.inputs
    return 2 * product([dim.size for dim in (*op.output.dims, *op.over)]) if wants(system) else Count(0)


def recomputes_scores(op: Op, wants: Wants) -> Count:
    """The flash kernel kept no scores: it computes them again, then the gradients of values, weights, queries and keys:
    three products of a key's width and two of a value's, for the forward's one and one."""
    if not any(map(wants, op.inputs)):
        return Count(0)
    query, key, value, *_ = op.inputs
    pairs = product([dim.size for dim in (*query.dims[:3], key.dims[2])])
    return 3 * (2 * (pairs * query.dims[3].size)) + 2 * (2 * (pairs * value.dims[3].size))


# What is saved

ITS_INPUT = Saved(("input",))
ITS_OUTPUT = Saved(("output",))
ALL_BUT_FIRST = Saved(("others",))  # constants that the first input is combined with: a mask, RoPE's cosines and sines
INPUTS = Saved(("input", "others"))  # torch.gather saves its input too, although its gradient needs only the shape
INPUTS_OF_ANY = Saved(("input", "others"), any_input=True)
MADE_BESIDE = Saved(("beside",))
INPUT_AND_BESIDE = Saved(("input", "beside"))  # max pooling remembers where each maximum was, and keeps the input too
LOSS_AND_TARGETS = Saved(("beside", "others"))
STATISTICS = Saved(("input", "beside", "weight"), any_input=True)  # of norms, whichever input requires a gradient
INDICES = Saved(("indices",), any_input=True)
EVERYTHING = Saved(("input", "others", "output", "beside"), any_input=True)


def other_factors(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """The gradient of one factor needs the others: input i is saved iff another input requires a gradient."""
    for index, tensor in enumerate(op.inputs):
        if any(wants(other) for position, other in enumerate(op.inputs) if position != index):
            yield tensor


def factors_without_bias(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """The input and the weights of a linear layer, each for the other's gradient; of several weights, all for one."""
    x, *others = op.inputs
    weights = [tensor for tensor in others if len(tensor.axes) > 1]
    if any(map(wants, weights)):
        yield x
    if wants(x):
        yield from weights


def its_wide_output(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """The fp32 result, if the output is a 16-bit copy of it."""
    if not wants(op.inputs[0]):
        return ()
    return (op.beside["upcast"],) if policy.bytes_of("upcast") else (op.output,)


def source_of_places(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """torch.index_copy saves what it copies, although its gradient needs only the shape, and its places."""
    into, source, *places = op.inputs
    if wants(source):
        yield source
    if wants(into) or wants(source):
        yield from places


def decay_and_states(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """Each step multiplies the previous state by a decay: each is saved for the other's gradient."""
    decay, *_ = op.inputs
    if any(map(wants, op.inputs)):
        yield decay
    if wants(decay):
        yield op.output


def rms_steps(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """nn.RMSNorm computes step by step, in fp32: narrower inputs are kept as an fp32 copy, the normalised ones too."""
    x, *weights = op.inputs
    if wants(x):
        yield op.beside["upcast"] if policy.bytes_of(x.role) < policy.bytes_of("stat") else x
        yield op.beside["rstd"]
        yield from weights
    if any(map(wants, weights)):
        yield op.beside["normalised"]


def divisor(op: Op, wants: Wants, policy: Policy) -> Iterable[Tensor]:
    """Both gradients of a division need the divisor; the divisor's gradient also needs the dividend."""
    above, below = op.inputs
    if wants(above) or wants(below):
        yield below
    if wants(below):
        yield above


# What exists only while an op, or its gradient, is computed


@dataclass(frozen=True, eq=False, repr=False)
class Steps:
    """The gradient takes so many of them, each with a tensor of the output's shape."""

    number: int

    def __call__(self, op: Op, wants: Wants) -> Iterable[Tensor]:
        return [Tensor(op.output.axes, op.output.role) for _ in range(self.number)]


def not_wanted(op: Op, wants: Wants) -> Iterable[Tensor]:
    """A kernel computes the gradients of queries, keys and values together, also those that nobody wants."""
    looked_at = op.inputs[:3]
    return [
        Tensor(tensor.axes, tensor.role) for tensor in looked_at if any(map(wants, looked_at)) and not wants(tensor)
    ]


def one_number(op: Op, wants: Wants) -> Iterable[Tensor]:
    """Of the output's format."""
    return [Tensor(axes(), op.output.role)]


def unreduced(op: Op, wants: Wants) -> Iterable[Tensor]:
    """The gradient of a factor that was broadcast exists for every element before it is summed."""
    small = [tensor for tensor in op.inputs if wants(tensor) and int(tensor.size) < int(op.output.size)]
    return [Tensor(op.output.axes, op.output.role) for _ in small[:1]]


def its_whole_input(op: Op, wants: Wants) -> Iterable[Tensor]:
    """Gathered from all GPUs that share a sequence."""
    return [whole(op.inputs[0])]


def its_whole_input_and_gradient(op: Op, wants: Wants) -> Iterable[Tensor]:
    """The gradient is computed of all positions, before it is summed over GPUs and divided."""
    return [whole(op.inputs[0]), whole(op.inputs[0])]


def its_whole_output(op: Op, wants: Wants) -> Iterable[Tensor]:
    """A partial result of all positions; in the backward pass its gradient, gathered."""
    return [whole(op.output)]


def broadcast_inputs(op: Op) -> Iterable[Tensor]:
    """Those that have fewer elements than the output."""
    return [tensor for tensor in op.inputs if int(tensor.size) < int(op.output.size)]


def biases(op: Op) -> Iterable[Tensor]:
    """Of a linear layer: its inputs with one axis."""
    return [tensor for tensor in op.inputs if len(tensor.axes) == 1]


def is_flattened(op: Op) -> bool:
    """A product with a matrix is computed on rows; the gradient of a tensor with more axes is a view of rows."""
    x, *others = op.inputs
    return len(x.axes) > 2 and any(tensor.role == "param" for tensor in others)


# What a log-probability that is computed one sequence after the other takes besides its gradient


def rows_of_log_softmax(op: Op, wants: Wants) -> Iterable[Tensor]:
    """Every sequence's logarithms are traded for its gradient, with two more rows on the way; then all gradients are
    joined to one tensor, which takes as much again. Of one sequence the way there is the higher one."""
    return _rows(op, max(0, 2 - int(op.inputs[0].dims[0].size)))


def rows_of_logsumexp(op: Op, wants: Wants) -> Iterable[Tensor]:
    """Two more rows on the way to a sequence's gradient; then all gradients are joined, the logits still there."""
    return _rows(op, max(2, int(op.inputs[0].dims[0].size)))


def one_row(op: Op, wants: Wants) -> Iterable[Tensor]:
    """What PyTorch's logsumexp computes in: e to the power of a sequence's logits, less their largest."""
    return _rows(op, 1)


def _rows(op: Op, number: int) -> Iterable[Tensor]:
    _, *row = op.inputs[0].dims
    return [Tensor(axes(Dim.of("spare_rows", number), *row), op.inputs[0].role)] if number else []


# What several kinds are made of

PRODUCT = Kind(
    "a matrix product",
    multiply_add,
    other_factors,
    matrix=True,
    contraction=True,
    autocast="narrow",
    own_kernel=True,
    expensive=True,
    gradient=Gradient(is_view=is_flattened),
)
ATTENTION = Kind(
    "attention in one kernel",
    fused_attention,
    EVERYTHING,
    recomputes_scores,
    matrix=True,
    autocast="narrow",
    own_kernel=True,
    attention_kernel=True,
    expensive=True,
    gradient=Gradient(scratch=not_wanted),
)
