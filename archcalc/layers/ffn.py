"""The feed-forward layer: out(act(in(x))), or gated, out(act(gate(x)) ∗ in(x))."""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Tensor
from archcalc.layers.activation import activated
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm


def ffn(
    m: Module,
    x: Tensor,
    width: int,
    *,
    act: str,
    gated: bool = False,
    bias: bool = True,
    out_bias: bool | None = None,
    inner_norm: str = "none",
) -> Tensor:
    """`inner_norm` stands in front of the projection out."""
    inner, out_bias = Dim.of("ffn", width), bias if out_bias is None else out_bias
    (d_model,) = x.axes[-1]
    if gated:
        gate = activated(m, linear(m["gate"], x, inner, bias=bias), act)
        hidden = m.record("multiply", gate, linear(m["up"], x, inner, bias=bias))
        hidden = norm(m["inner_norm"], hidden, inner_norm)
        return linear(m["down"], hidden, d_model, bias=out_bias)
    hidden = activated(m, linear(m["in"], x, inner, bias=bias), act)
    hidden = norm(m["inner_norm"], hidden, inner_norm)
    return linear(m["out"], hidden, d_model, bias=out_bias)
