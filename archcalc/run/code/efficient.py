"""Scaled-dot-product attention with a bias, which PyTorch's memory-efficient kernel adds to the scores.

Source: transformers, sdpa_attention_forward and create_position_bias_mask in integrations/sdpa_attention.py; PyTorch,
preprocess_mask in ATen/native/transformers/attention.cpp and attention_backward.cu beside it.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Op, Tensor, axes
from archcalc.run.code.writing import Lines, end_of_scope

ALIGNED_TO = 8  # rows of a bias begin at multiples of so many elements (preprocess_mask)
GRADIENT_TO = 16  # and those of its gradient (_efficient_attention_backward)
BY_HEAD = 3  # axes of a bias: heads, queries and keys
LOGSUMEXP_TO = 32  # rows of scores that the kernel keeps a number for: a multiple of this


def lower_biased(core: Module, bias: Tensor, *, causal: bool, lies_by_head: bool) -> None:
    """The kernel in place of products and softmax; `lies_by_head` says that the bias is a row for each head."""
    products = [op for op in core.ops if op.traits.matrix]
    first, last = products[0], products[-1]
    query, key, *_ = first.inputs
    value = first.inputs[2] if first.traits.attention_kernel else last.inputs[1]
    lines = Lines(narrow=False)
    added = _bias_mask(lines, bias, causal=causal, lies_by_head=lies_by_head)
    lines.hold(added)
    shown = _aligned(lines, lines.do("argument", added), query.dims[0])
    lines.ops.append(Op("efficient", (query, key, value, shown), last.output, beside=statistics(query)))
    core.body[:] = lines.scope()
    core.work_notes.clear()


def add_in_kernel(core: Module) -> None:
    """A learned bias for each head, the same for every sequence, that eager attention would add to stored scores.

    Source: transformers, BeitAttention.forward, which gives it to the kernel as a mask."""
    sums = [op for op in core.ops if op.traits.joins_product and len(op.inputs) > 1]
    biases = [op.inputs[1] for op in sums if len(op.inputs[1].dims) == BY_HEAD]
    if biases:
        causal = any(op.traits.hides for op in core.ops)
        lower_biased(core, biases[0], causal=causal, lies_by_head=True)


def lower_masked(op: Op, mask: Tensor) -> list[Op]:
    """A kernel of attention with a mask of bools: keys and values are repeated for every head, and each layer makes a
    bias for every sequence."""
    query, key, value, *_ = op.inputs
    lines = Lines(narrow=False)
    key, value = (_for_every_head(lines, tensor, query.dims[1]) for tensor in (key, value))
    zero, lowest = (lines.do("constant", to=axes(), role=query.role) for _ in range(2))
    batch, (seq, past) = query.dims[0], mask.dims
    bias = lines.do("constant", mask, zero, lowest, to=axes(batch, seq, past), role=query.role)
    wide = _rounded_up("aligned", past, ALIGNED_TO)
    if wide.size != past.size:
        bias = lines.do("pad", bias, to=axes(batch, seq, wide))
    lines.ops.extend(end_of_scope(zero))
    lines.ops.append(Op("efficient", (query, key, value, bias), op.output, beside=statistics(query)))
    return lines.ops


def _for_every_head(lines: Lines, tensor: Tensor, head: Dim) -> Tensor:
    """Copied, or seen several times if there is one head."""
    batch, group, past, width = tensor.dims
    if group == head:
        return tensor
    if int(group.size) == 1:
        return lines.see("expand", tensor, batch, head, past, width)
    return lines.do("repeat", tensor, to=axes(batch, head, past, width))


def _bias_mask(lines: Lines, bias: Tensor, *, causal: bool, lies_by_head: bool) -> Tensor:
    """The bias, and where a later position would be seen the lowest number, a row for each head."""
    if not causal or int(bias.dims[1].size) == 1:  # the last position sees all
        return bias if lies_by_head or _is_one_head(bias) else lines.do("copy", bias)
    _, seq, past = bias.dims
    places = [lines.do("constant", to=axes(dim), role="index") for dim in (seq, past)]
    seen = lines.do("constant", *places, to=axes(seq, past), role="mask")
    masked = lines.do("where", bias, seen)
    found = masked if _is_one_head(bias) else lines.do("copy", masked)
    lines.ops.extend(end_of_scope(seen))
    return found


def _is_one_head(bias: Tensor) -> bool:
    return int(bias.dims[0].size) == 1


def _aligned(lines: Lines, bias: Tensor, batch: Dim) -> Tensor:
    """Rows padded and seen without the padding, for every sequence; the kernel's gradient has padded rows."""
    head, seq, past = bias.dims
    wide = _rounded_up("aligned", past, ALIGNED_TO)
    if wide.size != past.size:
        bias = lines.see("slice", lines.do("pad", bias, to=axes(head, seq, wide)), head, seq, past)
    room = _rounded_up("room", past, GRADIENT_TO)
    return lines.see("expand" if int(batch.size) > 1 else "within", bias, batch, head, seq, room)


def _rounded_up(name: str, dim: Dim, multiple: int) -> Dim:
    return Dim.of(name, -(-int(dim.size) // multiple) * multiple)


def statistics(query: Tensor) -> dict[str, Tensor]:
    batch, head, seq, _ = query.dims
    rows = _rounded_up("rows", seq, LOGSUMEXP_TO)
    kept = {"logsumexp": Tensor(axes(batch, head, rows), "stat")}
    return kept | {name: Tensor(axes(), "seed") for name in ("seed", "offset")}
