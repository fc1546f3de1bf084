"""The linear layer, and several of them that read the same: one matrix each, or one for all.

A matrix for all is one parameter: it has one gradient and one set of optimizer states, and peft adapts it as a whole.
"""

from __future__ import annotations

from archcalc.core.count import Count, product
from archcalc.core.ir import Axis, Dim, Module, Op, Param, Role, Tensor
from archcalc.core.splits import Piece, Split
from archcalc.core.style import Projection
from archcalc.styles.activations import activated
from archcalc.styles.steps import widened

QKV, GATE_UP = "qkv", "gate_up"


def linear(
    m: Module,
    x: Tensor,
    out: Dim | Axis,
    *,
    bias: bool = True,
    trainable: bool = True,
    role: Role = Role.LINEAR,
    wide: bool = False,
) -> Tensor:
    """y = x·W + b. It contracts the input's last axis; a merged axis, such as concatenated heads, as a whole. `wide`:
    of fp32 copies of x and W.

    A bias within the kernel: PyTorch, aten/src/ATen/native/Linear.cpp, linear: addmm, or an addition in place."""
    axis = (out,) if isinstance(out, Dim) else out
    weight, vector = parameters(m, x, axis, bias=bias, trainable=trainable, role=role)
    read = (widened(m, x), widened(m, weight)) if wide else (x, weight)
    if vector and m.style.bias_in_kernel:
        return m.record("affine", *read, vector, to=(*x.axes[:-1], axis), over=x.axes[-1])
    y = m.record("contract", *read, to=(*x.axes[:-1], axis), over=x.axes[-1])
    return m.record("add", y, vector) if vector else y


def parameters(
    m: Module, x: Tensor, out: Axis, *, bias: bool, role: Role, trainable: bool = True
) -> tuple[Param, Param | None]:
    """The matrix, and the bias if there is one."""
    elements = product([width_of(x.axes[-1]), *(dim.size for dim in out)])
    weight = m.param("weight", out, x.axes[-1], elements=elements, trainable=trainable, role=role)
    return weight, m.param("bias", out, trainable=trainable, role=Role.BIAS) if bias else None


def width_of(axis: Axis) -> Count:
    """A merged axis as one number: 768, not 4 × 192."""
    if len(axis) == 1:
        return axis[0].size
    return Count.named("·".join(dim.name for dim in axis), product([dim.size for dim in axis]))


def each_by_itself(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    """A matrix each."""
    return tuple(linear(m[one.name], x, one.out, bias=one.bias, role=one.role) for one in several)


def split(m: Module, x: Tensor, several: tuple[Projection, ...], name: str, role: Role) -> tuple[Tensor, ...]:
    """One matrix, and views of its result, which lives as long as any of them."""
    if len({one.bias for one in several}) > 1:  # which one matrix cannot have
        return each_by_itself(m, x, several)
    joint = m.child(name)
    joint.words.stands_for = tuple(one.name for one in several)
    whole = linear(joint, x, joined_width(name, several), bias=several[0].bias, role=role)
    return parts(m, whole, several, "split")


def split_qkv(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    """Source: transformers, GPT2Attention.forward: one Conv1D, and a split of its result."""
    return split(m, x, several, QKV, Role.ATTENTION_QKV)


def copied_qkv(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    """Each of the three in a tensor of its own. Source: torchtitan since June 2026, FusedQKVLinear.forward."""
    return tuple(m.record("copy", part) for part in behind(m, x, several))


def split_gates(m: Module, x: Tensor, act: str, gate: Projection, up: Projection) -> Tensor:
    """Source: transformers, Phi3MLP.forward: one linear layer, and two chunks of its result."""
    gate_part, up_part = split(m, x, (gate, up), GATE_UP, Role.FFN_GATE_UP)
    return m.record("multiply", activated(m, gate_part, act), up_part)


def behind(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    """The three stand behind each other and are views. Source: litgpt, CausalSelfAttention.forward since its pull
    request 1013 of December 2024."""
    return parts(m, product_for_all(m, x, several), several, "split")


def by_group(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    """A group's queries stand beside its key and its value: so litgpt had it before. With as many keys as queries, or
    with one key alone, the parts are views, so that whoever keeps the values keeps all of it; else reshaping copies
    queries, and keys and values for every head, in front of the rotation."""
    query, key, value = behind(m, x, several)
    (head, _), (group, _) = query.axes[-1], key.axes[-1]
    if head == group:
        return query, key, value
    kind, repeated = ("seen", "expand") if int(group.size) == 1 else ("copy", "repeat")
    shapes = [(one, (*one.axes[:-1], (head, one.dims[-1]))) for one in (key, value)]
    return m.record(kind, query), *(m.record(repeated, one, to=shape) for one, shape in shapes)


def merged(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    """Copies of what one product gave: rotations write their own, and a kernel wants values that lie side by side.

    Source: Megatron-LM, SelfAttention.get_query_key_value_tensors; Transformer Engine,
    dot_product_attention/backends.py."""
    return parts(m, product_for_all(m, x, several), several, "unpack")


def fused_gates(m: Module, x: Tensor, act: str, gate: Projection, up: Projection) -> Tensor:
    """One product, and one kernel for the activation and the gate, which saves what it reads.

    Source: Megatron-LM, MLP.linear_fc1; megatron/core/fusions/fused_bias_swiglu.py and fused_bias_geglu.py."""
    both = product_for_all(m, x, (gate, up))
    if act in FUSED:
        return m.record("kernel", both, to=(*x.axes[:-1], gate.out))
    gate_part, up_part = parts(m, both, (gate, up), "unpack")
    return m.record("multiply", activated(m, gate_part, act), up_part)


FUSED = ("silu", "gelu", "gelu_tanh")  # activations that have a kernel with a gate


def product_for_all(m: Module, x: Tensor, several: tuple[Projection, ...]) -> Tensor:
    """One product with the matrices of all, each of which is a parameter of its own."""
    made = [parameters(m[one.name], x, one.out, bias=one.bias, role=one.role) for one in several]
    weights, biases = [weight for weight, _ in made], [bias for _, bias in made if bias]
    shape = (*x.axes[:-1], (joined_width("packed", several),))
    return m[several[0].name].record("affine", x, *weights, *biases, to=shape, over=x.axes[-1])


def parts(m: Module, whole: Tensor, several: tuple[Projection, ...], kind: str) -> tuple[Tensor, ...]:
    """What each projection makes, as views of one tensor or as copies out of it."""
    made = [Tensor((*whole.axes[:-1], one.out), whole.role) for one in several]
    beside = {one.name: part for one, part in zip(several[1:], made[1:], strict=True)}
    m.add(Op(kind, (whole,), made[0], beside=beside))
    return tuple(made)


def joined_width(name: str, several: tuple[Projection, ...]) -> Dim:
    """All of them behind each other, each divided over GPUs as it is."""
    size = sum(int(product([dim.size for dim in one.out])) for one in several)
    pieces = tuple(piece for one in several for piece in _pieces(one.out))
    return Dim(name, Count(size), split=Split(pieces) if pieces else None)


def _pieces(axis: Axis) -> tuple[Piece, ...]:
    """How tensor parallelism divides an axis; nothing where it does not."""
    divided = next((dim for dim in axis if dim.split), None)
    if not divided or not divided.split:
        return ()
    width = int(product([dim.size for dim in axis])) // int(divided.size)
    return tuple(piece._replace(width=int(piece.width) * width) for piece in divided.split.of(divided.size))
