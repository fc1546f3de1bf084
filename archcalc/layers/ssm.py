"""Mamba: a selective state-space layer, with step size, B and C computed from each token.

    h_t = exp(Δ_t A) ∗ h_{t-1} + Δ_t B_t ∗ u_t        y_t = C_t · h_t + D ∗ u_t

Each of `inner` channels keeps `state` numbers, however long the sequence is. One kernel computes the states: for the
backward pass it keeps u, Δ, B and C, and no state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.ir import Count, Dim, Module, Param, Role, Tensor, axes
from archcalc.core.splits import OF_STATES
from archcalc.layers.conv import causal_conv
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.layers.one_kernel import kernel
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Mamba:
    spec_kind: ClassVar[str] = "mamba"
    inner: int
    state: int
    conv: int
    dt_rank: int
    bias: bool
    out_bias: bool
    conv_bias: bool
    norms: str  # on Δ, B and C: none, rms, or weightless

    @property
    def states(self) -> Dim:
        return Dim.of("state", self.state)

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        inner = Dim.of("inner", self.inner, split=OF_STATES)  # as vLLM: mamba/mamba_mixer.py
        m["in"].words.about = "u and the gate"
        both = linear(m["in"], x, (Dim.of("x_and_gate", 2), inner), bias=self.bias, role=Role.MAMBA_IN)
        u = causal_conv(m["conv"], both.seen_as(batch, seq, inner), self.conv, bias=self.conv_bias, work=work)
        u = m.record("silu", u)
        # Δ, B and C of every token; Δ has a low-rank projection
        rank, state = Dim.of("dt_rank", self.dt_rank), self.states
        three = Dim("dt_b_c", rank.size + 2 * Count(state.size))
        m["select"].words.about, m["dt"].words.about = "Δ, B and C", "Δ"
        selected = linear(m["select"], u, three, bias=False, role=Role.MAMBA_SELECT)
        step = self._normed(m, "dt", selected.seen_as(batch, seq, rank))
        b, c = (self._normed(m, name, selected.seen_as(batch, seq, state)) for name in ("b", "c"))
        step = linear(m["dt"], step, inner, role=Role.MAMBA_DT)
        inside = kernel(m, work, "mamba_ssm's selective_scan_fn")
        y = self._scanned(inside, u, step, b, c, m.param("A_log", inner, state, role=Role.STATE), work)
        y = m.record("add", y, m.record("multiply", u, m.param("D", inner)))
        gate = m.record("silu", both.seen_as(batch, seq, inner))
        return linear(m["out"], m.record("multiply", y, gate), d_model, bias=self.out_bias, role=Role.MAMBA_OUT)

    def _scanned(
        self, m: Module, u: Tensor, step: Tensor, b: Tensor, c: Tensor, rates: Param, work: Workload
    ) -> Tensor:
        batch, seq, inner = u.dims
        state = self.states
        shape = axes(batch, seq, inner, state)
        step, a = m.record("softplus", step), m.record("scale", m.record("exp", rates))
        decay = m.record("exp", m.record("multiply", step, a, to=shape))
        taken_in = m.record("multiply", m.record("multiply", step, b, to=shape), u)
        states = m.record("scan", decay, taken_in, name="states", note="h⟨t⟩, one after the other")
        if work.keeps_cache:
            m.record("append", states, to=axes(batch, inner, state))
        return m.record("contract", states, c, to=u.axes, over=(state,))

    def _normed(self, m: Module, name: str, x: Tensor) -> Tensor:
        return x if self.norms == "none" else norm(m[f"{name}_norm"], x, "rms", affine=self.norms == "rms")
