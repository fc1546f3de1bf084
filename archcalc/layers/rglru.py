"""The recurrent block of Griffin: a real-gated linear recurrent unit (RG-LRU) after a short convolution, with a gate.

    a_t = exp(−8 softplus(Λ) ∗ r_t)        h_t = a_t ∗ h_{t-1} + √(1 − a_t²) ∗ (i_t ∗ x_t)

The gates r and i are linear layers on blocks of channels, one for each head. The states are one after the other, and
are what is kept for the backward pass, with a.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.core.splits import Piece, joined
from archcalc.layers.conv import causal_conv
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear
from archcalc.spec.workload import Workload
from archcalc.styles.activations import activated


@dataclass(frozen=True)
class RecurrentUnit:
    spec_kind: ClassVar[str] = "rglru"
    width: int
    heads: int
    conv: int
    act: str

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        split = joined(Piece(self.heads, self.width // self.heads))  # as TensorRT-LLM: layers/recurrent.py
        d_model, width = x.dims[-1], Dim.of("width", self.width, split=split)
        gate = activated(m, linear(m["gate"], x, width), self.act)
        u = causal_conv(m["conv"], linear(m["in"], x, width), self.conv, bias=True, work=work)
        m.words.whole_sequence = "a state that is passed from one position to the next"
        takes_in, forgets = (
            m.record("sigmoid", self._by_head(m[name], u)) for name in ("input_gate", "recurrent_gate")
        )
        rate = m.record("scale", m.record("softplus", m.param("rate", width)))
        decay = m.record("exp", m.record("multiply", forgets, rate))
        normaliser = m.record("root", m.record("subtract", m.record("square", decay)))
        taken_in = m.record("multiply", m.record("multiply", u, takes_in), normaliser)
        states = m.record("scan", decay, taken_in, name="states", note="one after the other")
        if work.keeps_cache:
            m.record("append", states, to=axes(x.dims[0], width))
        return linear(m["out"], m.record("multiply", states, gate), d_model)

    def _by_head(self, m: Module, u: Tensor) -> Tensor:
        """A square matrix for each block of channels, and a bias."""
        batch, seq, _ = u.dims
        head, block = heads_of(self.heads), Dim.of("block", self.width // self.heads)
        into = Dim.of("block_in", block.size)
        weight = m.param("weight", head, into, block, role=Role.HEADWISE)
        blocks = u.seen_as(batch, seq, head, into)
        y = m.record("contract", blocks, weight, to=axes(batch, seq, head, block), over=(into,))
        return m.record("add", y, m.param("bias", head, block, role=Role.BIAS)).seen_as(*u.dims)
