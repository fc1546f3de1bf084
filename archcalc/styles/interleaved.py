"""Queries, keys and values that lie in one tensor, as litgpt takes them out of it.

Until December 2024 a group's queries stood beside its key and its value. With as many keys as queries, or with one key
alone, the parts are views, so that whoever keeps the values keeps all of it; else reshaping copies queries, and keys
and values for every head, in front of the rotation. Since then the three stand behind each other and are views.
Source: litgpt, CausalSelfAttention.forward, before and after its pull request 1013.
"""

from __future__ import annotations

from typing import Any

from archcalc.core.ir import Module, Tensor
from archcalc.core.style import Projection
from archcalc.styles.attention import copied_heads
from archcalc.styles.linear import parts, product_for_all


def behind(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    return parts(m, product_for_all(m, x, several), several, "split")


def by_group(m: Module, x: Tensor, several: tuple[Projection, ...]) -> tuple[Tensor, ...]:
    query, key, value = behind(m, x, several)
    (head, _), (group, _) = query.axes[-1], key.axes[-1]
    if head == group:
        return query, key, value
    kind, repeated = ("seen", "expand") if int(group.size) == 1 else ("copy", "repeat")
    shapes = [(one, (*one.axes[:-1], (head, one.dims[-1]))) for one in (key, value)]
    return m.record(kind, query), *(m.record(repeated, one, to=shape) for one, shape in shapes)


def copied_answer(m: Module, *tensors: Tensor, kind: str, mask: Tensor | None = None, **said: Any) -> Tensor:
    """A kernel's output lies as its queries do, which torch.cat has written head by head: `y.reshape` copies it.

    Source: PyTorch, aten/src/ATen/native/transformers/cuda/flash_attn/flash_api.cpp, mha_fwd: empty_like(q)."""
    return m.record("copy", m.record(kind, *tensors, **said))


def copied_heads_and_answer(m: Module, *tensors: Tensor, **said: Any) -> Tensor:
    return m.record("copy", copied_heads(m, *tensors, **said))
