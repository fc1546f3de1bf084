"""Multi-head attention; with fewer key-value heads it is grouped-query, with one multi-query attention."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.count import total
from archcalc.ir import Axis, Dim, Module, Part, Tensor, axes
from archcalc.layers.linear import linear, width_of

Change = Callable[[Module, Tensor], Tensor]


def attention(
    m: Module,
    x: Tensor,
    memory: Tensor,
    *,
    heads: int,
    kv_heads: int,
    head_dim: int,
    bias: frozenset[str],
    rotate: bool = False,
    add_bias: Change | None = None,
    dropout: float = 0,
) -> Tensor:
    """`memory` is what is looked at: x itself, or the encoder's output."""
    batch, seq, d_model = x.dims
    head, each = Dim.of("heads", heads, copies=True), Dim.of("head_dim", head_dim)
    kv_head = Dim.of("kv_heads", kv_heads, copies=True) if kv_heads != heads else head
    q = linear(m["q"], x, (head, each), bias="q" in bias)
    k = linear(m["k"], memory, (kv_head, each), bias="k" in bias)
    v = linear(m["v"], memory, (kv_head, each), bias="v" in bias)
    m.show("head", batch, seq, each, note=f"each of {heads} heads")
    past = _past(x, memory)
    q = q.seen_as(batch, head, seq, each)
    k, v = (t.seen_as(batch, kv_head, past, each) for t in (k, v))
    if rotate:
        q, k = m.record("rotate", q), m.record("rotate", k)
    if kv_head is not head:
        k, v = (m.record("repeat", t, to=axes(batch, head, past, each)) for t in (k, v))
    scores = m.record("contract", q, k, to=axes(batch, head, seq, past), over=(each,), name="scores")
    scores = add_bias(m, scores) if add_bias else scores
    weights = m.record("softmax", scores)
    weights = m.record("dropout", weights) if dropout else weights
    looked_up = m.record("contract", weights, v, to=axes(batch, head, seq, each), over=(past,))
    concatenated = m.record("view", looked_up, to=axes(batch, seq, (head, each)), name="concat", note="heads concatenated")
    _describe_heads(m, head, d_model, each)
    return linear(m["out"], concatenated, d_model, bias="o" in bias)


def _past(x: Tensor, memory: Tensor) -> Dim:
    """Keys are seen along an axis of their own, even where a sequence looks at itself."""
    seq = memory.dims[1]
    return seq.renamed(f"kv_{seq.name}") if seq.name == x.dims[1].name else seq


def _describe_heads(m: Module, head: Dim, d_model: Dim, each: Dim) -> None:
    """The shares a textbook asks for: all heads together, and one head's part of each projection."""
    projections = [m[name] for name in ("q", "k", "v")]
    m.parts.append(Part("heads", total(total(p.elements for p in one.params.values()) for one in projections)))
    for one in projections:
        biased = [each.size] if "bias" in one.params else []
        share = total([d_model.size * each.size, *biased])
        m.parts.append(Part(f"{one.name}_head", share, (int(each.size), int(d_model.size))))


