"""Pooling: one vector from the outputs at all positions of a sequence.

    mean, sum, max    over the positions
    attention         Σ α·h with α = softmax over the positions of vᵀh, or of vᵀtanh(W·h + b)

Several vectors v are several heads, each with weights of its own; their sums stand side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.linear import linear, width_of


@dataclass(frozen=True)
class AttentionPool:
    """The sizes of attention pooling; without a width the score is a plain product."""

    heads: int = 1
    width: int | None = None
    bias: bool = False  # inside the tanh

    def run(self, m: Module, outputs: Tensor) -> Tensor:
        batch, seq = outputs.dims[:2]
        states = outputs.seen_as(batch, seq, Dim("key", width_of(outputs.axes[-1])))
        heads, key = Dim.of("pool_heads", self.heads), states.dims[-1]
        inner = states
        if self.width is not None:
            note = "tanh(W·h + b)" if self.bias else "tanh(W·h)"
            inner = linear(m["inner"], states, Dim.of("width", self.width), bias=self.bias)
            inner = m.record("tanh", inner, name="keys", note=note)
        scores = linear(m["scores"], inner, heads, bias=False)
        weights = m.record("softmax", scores, name="weights", note="α = softmax over the positions")
        mixed = axes(batch, (heads, key)) if self.heads > 1 else axes(batch, key)
        seen = weights if self.heads > 1 else weights.seen_as(batch, seq)
        return m.record("contract", seen, states, to=mixed, over=(seq,), name="pooled", note="Σ α·h")


def pooled(m: Module, outputs: Tensor, kind: str, attention: AttentionPool) -> Tensor:
    """(batch, width) of (batch, seq, width)."""
    if kind == "attention":
        return attention.run(m["pool"], outputs)
    batch, seq = outputs.dims[:2]
    to, note = axes(batch, outputs.axes[-1]), f"{kind} over all positions"
    if kind == "max":
        return m.record("largest", outputs, to=to, over=(seq,), name="max_pooled", note=note)
    return m.record("sum", outputs, to=to, over=(seq,), name=f"{kind}_pooled", note=note)
