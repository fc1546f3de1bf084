"""Kernel attention: a similarity φ(q)·φ(k) in the place of softmax, so that no query has to meet every key.

    softmax   Σ_m exp(q_n·k_m) v_m / Σ_m exp(q_n·k_m)      every query meets every key
    kernel    φ(q_n)·(Σ_m φ(k_m) v_mᵀ) / φ(q_n)·Σ_m φ(k_m)  the sums over m are taken once

`poly2` is (q·k + 1)²: its φ lists 1, √2·x_i, x_i² and √2·x_i·x_j, which is (D + 1)(D + 2) / 2 features of D numbers.
`elu` is elu(x) + 1 and `relu` is max(x, 0), both of D features.
"""

from __future__ import annotations

from archcalc.count import Count
from archcalc.ir import Dim, Module, Tensor, axes
from archcalc.layers.attention import describe_heads, looked_at
from archcalc.layers.linear import linear

NORMALISER = "normaliser"
FEATURES = ("softmax", "poly2", "elu", "relu")


def feature_width(feature: str, head_dim: int) -> Count:
    """How many features φ makes of a head."""
    width = Count(head_dim)
    return (width + 1) * (width + 2) // 2 if feature == "poly2" else width


def kernel_attention(
    m: Module,
    x: Tensor,
    memory: Tensor,
    *,
    feature: str,
    heads: int,
    kv_heads: int,
    head_dim: int,
    bias: frozenset[str],
    rotate: int = 0,
    causal: bool = False,
) -> Tensor:
    """Like `attention`, with a feature map in the place of scores and softmax; `rotate` is the rotated width."""
    batch, seq, d_model = x.dims
    head, each = Dim.of("heads", heads, copies=True), Dim.of("head_dim", head_dim)
    kv_head = Dim.of("kv_heads", kv_heads, copies=True) if kv_heads != heads else head
    q = linear(m["q"], x, (head, each), bias="q" in bias).seen_as(batch, head, seq, each)
    past = looked_at(x, memory)
    k, v = (linear(m[n], memory, (kv_head, each), bias=n in bias).seen_as(batch, kv_head, past, each) for n in "kv")
    m.show("head", batch, seq, each, note=f"each of {heads} heads")
    if rotate and feature == "poly2":  # (q·k + 1)² sees the rotation as q·k does
        q, k = _rotated(m, q, "q", rotate), _rotated(m, k, "k", rotate)
    q, k = _features(m, q, "q", feature), _features(m, k, "k", feature)
    normaliser = _normaliser(m, q, k)
    if rotate and feature != "poly2":  # the features turn, but not in the normaliser, which must stay above 0
        q, k = _rotated(m, q, "q", rotate), _rotated(m, k, "k", rotate)
    found = m.record("divide", _looked_up(m, q, k, v, causal=causal), normaliser)
    concatenated = m.record("view", found, to=axes(batch, seq, (head, each)), name="concat", note="heads concatenated")
    describe_heads(m, head, d_model, each)
    return linear(m["out"], concatenated, d_model, bias="o" in bias)


def _rotated(m: Module, x: Tensor, name: str, width: int) -> Tensor:
    whole = int(x.dims[-1].size)
    note = f"by its position, {width} of {whole}" if width < whole else "by its position"
    return m.record("rotate", x, name=f"{name}_rotated", note=note)


def _features(m: Module, x: Tensor, name: str, feature: str) -> Tensor:
    *rows, each = x.dims
    to = axes(*rows, Dim.of("features", feature_width(feature, each.size)))
    if feature == "poly2":
        return m.record("multiply", x, x, to=to, name=f"features_of_{name}", note="1, √2·x_i, x_i², √2·x_i·x_j")
    if feature == "relu":
        return m.record("relu", x, to=to, name=f"features_of_{name}", note="max(x, 0)")
    return m.record("add", m.record("elu", x, to=to), name=f"features_of_{name}", note="elu(x) + 1")


def _normaliser(m: Module, q: Tensor, k: Tensor) -> Tensor:
    """φ(q_n)·Σ_m φ(k_m): one number for each query."""
    batch, head, seq, features = q.dims
    to, note = axes(*k.dims[:2], features), "φ(k), summed over positions"
    summed = m.record("sum", k, to=to, over=(k.dims[2],), name="sum_of_features", note=note)
    summed = _for_every_head(m, summed, head)
    to, note = axes(batch, head, seq), "φ(q) · sum of features"
    return m.record("contract", q, summed, to=to, over=(features,), name=NORMALISER, note=note)


def _looked_up(m: Module, q: Tensor, k: Tensor, v: Tensor, *, causal: bool) -> Tensor:
    """The state Σ_m φ(k_m) v_mᵀ is as large as a head's features and values, however long the sequence is."""
    batch, head, seq, features = q.dims
    _, kv_head, past, each = v.dims
    note = "φ(k)ᵀv so far, at every position" if causal else "φ(k)ᵀv, summed over positions"
    state = m.record("contract", k, v, to=axes(batch, kv_head, features, each), over=(past,), name="state", note=note)
    state = _for_every_head(m, state, head)
    return m.record("contract", q, state, to=axes(batch, head, seq, each), over=(features,))


def _for_every_head(m: Module, x: Tensor, head: Dim) -> Tensor:
    """With fewer key-value heads, a group of queries reads one state."""
    batch, kv_head, *rest = x.dims
    return x if kv_head is head else m.record("repeat", x, to=axes(batch, head, *rest))
