"""Queries, keys and values that lie in one tensor, as litgpt takes them out of it.

Until December 2024 a group's queries stood beside its key and its value. With as many keys as queries, or with one key
alone, the parts are views, so that whoever keeps the values keeps all of it; else reshaping copies queries, and keys
and values for every head, in front of the rotation. Since then the three stand behind each other and are views.
Source: litgpt, CausalSelfAttention.forward, before and after its pull request 1013.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from archcalc.core.ir import Axes, Dim, Module, Op, Region, Tensor, walk
from archcalc.run.code.projections import Projection, attentions, by_head, joined, replace_in

VIEW, COPY = "expand", "repeat"


def lower_attention(root: Module, *, is_interleaved: bool) -> None:
    """Every self-attention of the model."""
    for attention, three in attentions(root):
        lines, whole = joined(three)
        if is_interleaved and len({one.piece for one in three}) > 1:
            lines += _for_every_head(attention, three, whole)
        else:
            lines.append(_split(whole, *(one.output for one in three)))
        replace_in(attention, three, lines)
        for core in (child for child in attention.children if child.region == Region.CORE):
            core.body[:] = [new for item in core.body for new in _copied_by_position(item)]


def copy_parts(root: Module) -> None:
    """Each of the three in a tensor of its own. Source: torchtitan since June 2026, FusedQKVLinear.forward."""
    for attention, three in attentions(root):
        lines, whole = joined(three)
        parts = [Tensor(one.output.axes, one.output.role) for one in three]
        copies = [Op("copy", (part,), one.output) for part, one in zip(parts, three, strict=True)]
        replace_in(attention, three, [*lines, _split(whole, *parts), *copies])


def _copied_by_position(item: Op | Module) -> list[Op | Module]:
    """A kernel's output lies as its queries do, which torch.cat has written head by head: `y.reshape` copies it.

    Source: PyTorch, aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd: empty_like(q)."""
    if isinstance(item, Module) or not item.traits.attention_kernel:
        return [item]
    found = Tensor(item.output.axes, item.output.role)
    return [replace(item, output=found), Op("copy", (found,), item.output)]


def _split(whole: Tensor, query: Tensor, key: Tensor, value: Tensor) -> Op:
    return Op("split", (whole,), query, beside={"keys": key, "values": value})


def _for_every_head(attention: Module, three: list[Projection], whole: Tensor) -> list[Op]:
    """Keys and values of a group, seen by each of its heads: copied, unless there is one group alone."""
    query, key, value = (one.output for one in three)
    parts = [Tensor(one.axes, one.role) for one in (query, key, value)]
    head = query.axes[-1][0]
    shown = {one: Tensor(_with_heads(by_head(one), head), one.role) for one in (key, value)}
    _see_every_head(attention, shown, head)
    kind = VIEW if three[1].piece.number == 1 else COPY
    repeated = [Op(kind, (part,), shown[one]) for part, one in zip(parts[1:], (key, value), strict=True)]
    return [_split(whole, *parts), Op("seen" if kind == VIEW else "copy", (parts[0],), query), *repeated]


def _with_heads(axes: Axes, head: Dim) -> Axes:
    batch, _, *others = axes
    return (batch, (head,), *others)


def _see_every_head(attention: Module, shown: Mapping[Tensor, Tensor], head: Dim) -> None:
    """What reads keys and values, and what is made of keys, has a row for every head."""
    seen = dict(shown)
    for module, _ in walk(attention):
        for place, item in enumerate(module.body):
            if isinstance(item, Op) and any(tensor.storage in seen for tensor in item.inputs):
                module.body[place] = _of_every_head(item, seen, head)


def _of_every_head(op: Op, seen: dict[Tensor, Tensor], head: Dim) -> Op:
    inputs = tuple(_renewed(tensor, seen, head) for tensor in op.inputs)
    if op.traits.attention_kernel or not op.traits.position_tables:
        return replace(op, inputs=inputs)
    made = Tensor(_with_heads(op.output.axes, head), op.output.role)
    seen[op.output] = made
    return replace(op, inputs=inputs, output=made)


def _renewed(tensor: Tensor, seen: dict[Tensor, Tensor], head: Dim) -> Tensor:
    """The same view of what stands in a tensor's place."""
    if tensor.storage not in seen:
        return tensor
    return seen[tensor.storage].seen_as(*_with_heads(tensor.axes, head))
