"""The feed-forward layer: out(act(in(x))), or gated, out(act(gate(x)) ∗ in(x))."""

from __future__ import annotations

from archcalc.ir import Dim, Module, Tensor
from archcalc.layers.linear import linear


def ffn(m: Module, x: Tensor, width: int, *, act: str, gated: bool = False, bias: bool = True) -> Tensor:
    inner = Dim.of("ffn", width)
    (d_model,) = x.axes[-1]
    if gated:
        gate = m.record(act, linear(m["gate"], x, inner, bias=bias), note=act)
        hidden = m.record("multiply", gate, linear(m["up"], x, inner, bias=bias))
        return linear(m["down"], hidden, d_model, bias=bias)
    hidden = m.record(act, linear(m["in"], x, inner, bias=bias), note=act)
    return linear(m["out"], hidden, d_model, bias=bias)
