"""Attention as transformers computes it: PyTorch's kernels, and stored scores.

Products of heads are batches of matrices: `torch.matmul` copies queries, keys and values whose heads do not follow each
other in memory, as they do not after a projection, and their gradients are copied back to the order of positions. Keys
and values that were repeated for every head are such copies already. One sequence, one head or one position needs none.
Source: transformers, eager_attention_forward, and sdpa_attention_forward in integrations/sdpa_attention.py.
"""

from __future__ import annotations

from typing import Any

from archcalc.core.errors import InputError
from archcalc.core.ir import Axes, Dim, Module, Op, Tensor, axes
from archcalc.core.tree import ops_in
from archcalc.styles.steps import WIDE, cast_back, see, widened

Heads = tuple[Tensor, Tensor, Tensor]  # queries, keys and values

ALIGNED_TO = 8  # rows of a bias begin at multiples of so many elements (preprocess_mask)
TRADED = 3  # queries, keys and values
GRADIENT_TO = 16  # and those of its gradient (_efficient_attention_backward)
WRITTEN_ANEW = ("concat", "copy", "repeat", "contract")  # kinds whose output lies in the order of its axes
BY_HEAD = 4  # axes: batch, heads, positions, width


def kernel(m: Module, *tensors: Tensor, kind: str, mask: Tensor | None = None, **said: Any) -> Tensor:
    """PyTorch's own; a window that the sequence reaches is a mask (_ignore_causal_mask_sdpa). In fp32, and with values
    of another width than keys, it is the memory-efficient one, which writes by position (sdp_utils.cpp). The output of
    the other one lies as the queries do, and is copied by position if they lie by head.

    Source: PyTorch, mha_fwd in aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp: empty_like(q);
    transformers, sdpa_attention_forward: `attn_output.transpose(1, 2).contiguous()`."""
    query, key, value, *_ = tensors
    sees = said.get("sees")
    if mask is not None and sees is not None and sees <= key.dims[2].size:
        return _masked(m, (query, key, value), mask, said["to"])
    found = m.record(kind, *tensors, **said)
    _, head, seq, _ = found.dims
    is_flash = key.dims[-1] == value.dims[-1] and (m.style.narrow or query.dims[1] != key.dims[1])
    is_copied = is_flash and lies_by_head(m, query) and min(int(head.size), int(seq.size)) > 1
    return m.record("copy", found) if is_copied else found


def _masked(m: Module, heads: Heads, mask: Tensor, to: Axes) -> Tensor:
    """With a mask of bools: keys and values are repeated for every head, and each layer makes a bias for every
    sequence. Source: PyTorch, preprocess_mask in ATen/native/transformers/attention.cpp."""
    query, *pair = heads
    key, value = (_for_every_head(m, tensor, query.dims[1]) for tensor in pair)
    batch, (seq, past) = query.dims[0], mask.dims
    bias = m.record("constant", mask, to=axes(batch, seq, past), role=query.role)
    wide = _rounded_up("aligned", past, ALIGNED_TO)
    if wide.size != past.size:
        bias = m.record("pad", bias, to=axes(batch, seq, wide))
    return m.record("efficient", query, key, value, bias, to=to)


def _for_every_head(m: Module, tensor: Tensor, head: Dim) -> Tensor:
    """Copied, or seen several times if there is one head."""
    batch, group, past, width = tensor.dims
    if group == head:
        return tensor
    if int(group.size) == 1:
        return see(m, "expand", tensor, batch, head, past, width)
    return m.record("repeat", tensor, to=axes(batch, head, past, width))


def copied_heads(m: Module, *tensors: Tensor, kind: str, mask: Tensor | None = None, **said: Any) -> Tensor:
    """Keys and values of a group are copied for every head, before a kernel that could read them where they are.

    Source: torchtitan until January 2026, repeat_kv; torch.compile's partitioner keeps these copies too."""
    query, key, value, *others = tensors
    batch, head, *_ = query.dims
    if key.dims[1] != head:
        key, value = (m.record("repeat", one, to=axes(batch, head, *one.dims[2:])) for one in (key, value))
    return m.record(kind, query, key, value, *others, **said)


def copied_answer(m: Module, *tensors: Tensor, kind: str, mask: Tensor | None = None, **said: Any) -> Tensor:
    """A kernel's output lies as its queries do, which torch.cat has written head by head: `y.reshape` copies it.

    Source: litgpt, CausalSelfAttention.forward; PyTorch, aten/src/ATen/native/transformers/cuda/flash_attn/
    flash_api.cpp, mha_fwd: empty_like(q)."""
    return m.record("copy", m.record(kind, *tensors, **said))


def copied_heads_and_answer(m: Module, *tensors: Tensor, **said: Any) -> Tensor:
    return m.record("copy", copied_heads(m, *tensors, **said))


def biased(m: Module, heads: Heads, bias: Tensor, causal: bool, to: Axes) -> Tensor:
    """A bias for each head that PyTorch's memory-efficient kernel adds to the scores; where a later position would be
    seen it is the lowest number. Source: transformers, create_position_bias_mask; PyTorch, preprocess_mask."""
    query, key, value = heads
    is_transposed = bias.of is not None and int(bias.dims[0].size) > 1  # rows of a table, seen by head
    if causal and int(bias.dims[1].size) > 1:  # the last position sees all
        _, seq, past = bias.dims
        bias = m.record("where", bias, m.record("constant", to=axes(seq, past), role="mask"))
    bias, batch = m.record("argument", m.record("copy", bias) if is_transposed else bias), query.dims[0]
    head, seq, past = bias.dims
    wide, room = _rounded_up("aligned", past, ALIGNED_TO), _rounded_up("room", past, GRADIENT_TO)
    if wide.size != past.size:  # rows are padded and seen without the padding; the kernel's gradient has padded rows
        bias = see(m, "slice", m.record("pad", bias, to=axes(head, seq, wide)), head, seq, past)
    added = see(m, "expand" if int(batch.size) > 1 else "within", bias, batch, head, seq, room)
    return m.record("efficient", query, key, value, added, to=to)


def _rounded_up(name: str, dim: Dim, multiple: int) -> Dim:
    return Dim.of(name, -(-int(dim.size) // multiple) * multiple)


def repeat(m: Module, x: Tensor, to: Axes) -> Tensor:
    """Keys or values of a group, copied for each of its heads; one head alone is seen by all where it is."""
    return m.record("expand" if int(x.dims[1].size) == 1 else "repeat", x, to=to)


def scores(m: Module, q: Tensor, k: Tensor, **said: Any) -> Tensor:
    return m.record("contract", _matrices(m, q), _matrices(m, k), **said)


def scores_in_fp32(m: Module, q: Tensor, k: Tensor, **said: Any) -> Tensor:
    """Queries and keys are cast, and the weights back.

    Source: transformers, GPTJAttention._attn, CodeGenAttention._attn and GPTNeoSelfAttention._attn."""
    if m.style.narrow:
        q, k = (m.record("cast", one, role=WIDE) for one in (q, k))
    return scores(m, q, k, **said)


def hide(m: Module, x: Tensor, mask: Tensor, sees: int | None) -> Tensor:
    """By numbers that are added: 0, or the lowest; a choice of positions stays a mask of bools."""
    return m.record("mask", x, mask, sees=sees) if mask.role == "mask" else m.record("add", x, mask)


def hide_and_clamp(m: Module, x: Tensor, mask: Tensor, sees: int | None) -> Tensor:
    """The sum is clamped to the lowest number, and kept for that. Source: transformers, XGLMAttention.forward."""
    return m.record("clamp", hide(m, x, mask, sees))


def softmax(m: Module, x: Tensor, kind: str, **said: Any) -> Tensor:
    """In the scores' format, or in fp32 and cast back."""
    if not m.style.narrow or (kind == "softmax" and x.role != WIDE):
        return m.record("softmax", x, **said)
    if x.role == WIDE:  # scores in fp32, whose weights multiply 16-bit values
        return m.record("cast", m.record("softmax", x, **said), role="act")
    return cast_back(m, m.record("softmax", m.record("cast", x, role=WIDE), **said), x)


def sink_factor(m: Module, scores: Tensor, sinks: Tensor) -> Tensor:
    """sigmoid(logsumexp(scores) − sink), in fp32. Source: transformers, eager_attention_forward of GraniteSWA."""
    sums = m.record("length", scores, to=scores.axes[:-1], over=scores.axes[-1])  # keeps what logsumexp keeps
    shifted = m.record("subtract", sums, sinks)
    return cast_back(m, m.record("sigmoid", widened(m, shifted)), scores)


def weighed(m: Module, weights: Tensor, v: Tensor, **said: Any) -> Tensor:
    return m.record("contract", weights, _matrices(m, v), **said)


def by_position(m: Module, found: Tensor) -> Tensor:
    """What each head gives, copied so that the heads of a position follow each other; so is its gradient, back."""
    batch, head, seq, _ = found.dims
    if min(int(head.size), int(seq.size)) == 1:
        return found
    return m.record("reorder" if int(batch.size) > 1 else "copy", found)


def _matrices(m: Module, x: Tensor) -> Tensor:
    """A matrix for each sequence and head, copied where heads lie between positions: more than one of each, of more
    than one sequence."""
    batch, head, seq, _ = x.dims
    if min(int(batch.size), int(head.size), int(seq.size)) == 1 or lies_by_head(m, x):
        return x
    return m.record("copy", x)


def lies_by_head(core: Module, tensor: Tensor) -> bool:
    """Whether head follows head in memory; else position follows position, as a linear layer has written it.

    An elementwise op keeps the order of its first input (PyTorch, TensorIterator)."""
    makers: dict[Tensor, Op] = {}
    for op in ops_in(core.parent or core):
        makers.update(dict.fromkeys((op.output, *op.beside.values()), op))
    while (maker := makers.get(tensor.storage)) and maker.inputs and len(tensor.storage.axes) >= BY_HEAD:
        if maker.kind in WRITTEN_ANEW:
            return True
        tensor = maker.inputs[0]
    return False


def traded(m: Module, *tensors: Tensor, kind: str, mask: Tensor | None = None, **said: Any) -> Tensor:
    """Context parallelism by all-to-all: each GPU trades its positions of all heads for all positions of its heads, and
    back behind the kernel, so that what it gave and what the output projection reads are two tensors.

    Source: Transformer Engine, dot_product_attention/context_parallel.py, AttnFuncWithCPAndQKVOA2A, since version 2.8.
    """
    if m.style.gpus.cp == 1:
        return m.record(kind, *tensors, **said)
    gpus = m.style.gpus
    for head in (tensor.dims[1] for tensor in tensors[:TRADED]):
        number = head.split.part(int(head.size), gpus.tp) if head.split else int(head.size)
        if number % gpus.cp:
            fact = f"an all-to-all deals out heads, and {number} of {head.name} cannot be dealt to {gpus.cp} GPUs"
            raise InputError(fact, "use --code-option context=p2p, or a smaller --cp", field="--cp")
    there = [m.record("all_to_all", tensor) for tensor in tensors[:TRADED]]
    return m.record("all_to_all", m.record(kind, *there, *tensors[TRADED:], **said))
