"""The gate on a bias of relative positions (WavLM, Chen et al. 2022, section 3.1, after GRUs):

two gates for each position and head, of the head's part x of what attention reads: [a, b] = sigmoid(sums of W·x)
bias · (a · (b · c − 1) + 2), with a learned number c for each head
"""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear, one_each

TERMS = 4  # numbers that are added up to one gate
_TWO = Dim.of("two", 2)


def gated(m: Module, bias: Tensor, x: Tensor, heads: int) -> Tensor:
    """(batch, heads, queries, keys) of a bias of (heads, queries, keys)."""
    gate = _gate(m["position_gate"], x, heads)
    return m.record("multiply", gate, bias, to=axes(*gate.dims[:2], *bias.dims[1:]))


def _gate(m: Module, x: Tensor, heads: int) -> Tensor:
    batch, seq, d_model = x.dims
    if d_model.size % heads:
        fact = f"a gate reads each head's part of d_model {d_model.size}, which does not divide into {heads} heads"
        raise InputError(fact, "leave gated out", fields=[("position", "gated"), ("position",)])
    head, share = heads_of(heads), Dim.of("share", d_model.size // heads)
    parts = m.record("view", x, to=axes(batch, seq, head, share))
    terms = Dim.of("gate_terms", TERMS)
    made = linear(m, parts, (_TWO, terms), role=Role.LINEAR)
    gates = m.record("sigmoid", m.record("sum", made, to=axes(batch, seq, head, _TWO), over=(terms,)))
    first, second = (m.record("view", gates, to=axes(batch, head, seq)) for _ in range(2))
    inner = m.record("add", m.record("multiply", second, one_each(m, "constant", head)))
    return m.record("add", m.record("multiply", first, inner))
