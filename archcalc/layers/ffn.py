"""The feed-forward layer: out(act(in(x))), or gated, out(act(gate(x)) ∗ in(x))."""

from __future__ import annotations

from archcalc.ir import Dim, Module, Tensor
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
        gate = m.record(act, linear(m["gate"], x, inner, bias=bias), note=act)
        hidden = m.record("multiply", gate, linear(m["up"], x, inner, bias=bias))
        hidden = norm(m["inner_norm"], hidden, inner_norm)
        return linear(m["down"], hidden, d_model, bias=out_bias)
    hidden = m.record(act, linear(m["in"], x, inner, bias=bias), note=act)
    hidden = norm(m["inner_norm"], hidden, inner_norm)
    return linear(m["out"], hidden, d_model, bias=out_bias)
