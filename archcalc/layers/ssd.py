"""Mamba-2: one decay for each head, so that a chunk of positions is computed at once by matrix products.

Within a chunk every position looks back at the others, as in attention (C·Bᵀ in the place of q·kᵀ); between chunks
only a state is handed on. A sequence is padded to whole chunks. A decode step updates the state alone. One kernel
computes all of it: for the backward pass it keeps x, Δ, B and C.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.core.ir import Count, Dim, Module, Role, Tensor, axes
from archcalc.core.small import TWICE
from archcalc.core.splits import Piece, Remainder, joined
from archcalc.layers.conv import causal_conv
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear, one_each
from archcalc.layers.norm import norm
from archcalc.layers.one_kernel import kernel
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Mamba2:
    spec_kind: ClassVar[str] = "mamba2"
    inner: int
    heads: int
    state: int
    groups: int  # of heads that share their B and C
    conv: int
    bias: bool
    out_bias: bool
    conv_bias: bool
    chunk: int
    norm_groups: int  # of channels that are normalised each by itself behind the gate; 0: nothing is

    def made_small(self, original: Mamba2) -> Mamba2:
        """In a small model, groups still divide heads and channels."""
        groups, norm_groups = (
            self.heads if number == original.heads else min(number, TWICE)
            for number in (original.groups, original.norm_groups)
        )
        whole = math.lcm(self.heads, norm_groups or 1)
        inner = -(-self.inner // whole) * whole
        return replace(self, groups=groups, norm_groups=norm_groups, inner=inner)

    @property
    def head(self) -> Dim:
        return heads_of(self.heads)

    @property
    def each(self) -> Dim:
        return Dim.of("head_dim", self.inner // self.heads)

    @property
    def states(self) -> Dim:
        return Dim.of("state", self.state)

    @property
    def _widths(self) -> tuple[Dim, Dim, Dim]:
        """Splits channels by heads, B and C by groups; one group is replicated, as in vLLM (mamba/mamba_mixer2.py)."""
        channels, groups = Piece(self.heads, self.each.size), Count.named("groups", self.groups)
        shared, each = Piece(self.groups, self.state, Remainder.ONE_COPIED), Piece(self.heads)
        inner = Dim.of("inner", self.inner, split=joined(channels))
        mixed = Dim("inner_b_c", inner.size + 2 * groups * self.states.size, split=joined(channels, shared, shared))
        pieces = joined(channels, channels, shared, shared, each)
        return inner, mixed, Dim("gate_inner_b_c_dt", inner.size + mixed.size + self.head.size, split=pieces)

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        head, (inner, mixed, everything) = self.head, self._widths
        made = linear(m["in"], x, everything, bias=self.bias, role=Role.MAMBA_IN)
        u = causal_conv(m["conv"], made.seen_as(batch, seq, mixed), self.conv, bias=self.conv_bias, work=work)
        u = m.record("silu", u)
        y = self._mixed(m, u, made.seen_as(batch, seq, head), work)
        skipped = m.record("multiply", u.seen_as(batch, seq, head, self.each), one_each(m, "D", head))
        y = m.record("add", y, skipped).seen_as(batch, seq, inner)
        gated = m.record("multiply", y, m.record("silu", made.seen_as(batch, seq, inner)))
        normed = self._normed(m["norm"], gated)
        return linear(m["out"], normed, d_model, bias=self.out_bias, role=Role.MAMBA_OUT)

    def _normed(self, m: Module, x: Tensor) -> Tensor:
        if self.norm_groups <= 1:
            return norm(m, x, "rms") if self.norm_groups else x
        (batch, seq, inner), group = x.dims, Dim.of("norm_groups", self.norm_groups)
        grouped = x.seen_as(batch, seq, group, Dim.of("in_group", self.inner // self.norm_groups))
        normed = norm(m, grouped, "rms", affine=False).seen_as(*x.dims)
        return m.record("multiply", normed, m.param("weight", inner, role=Role.NORM))

    def _mixed(self, m: Module, u: Tensor, step: Tensor, work: Workload) -> Tensor:
        batch, seq, _ = u.dims
        bias, rate = one_each(m, "dt_bias", self.head), one_each(m, "A_log", self.head)
        m = kernel(m, work, "mamba_ssm's mamba_chunk_scan_combined")
        step = m.record("softplus", m.record("add", step, bias))
        values = m.record("multiply", u.seen_as(batch, seq, self.head, self.each), step)
        shared = u.seen_as(batch, seq, Dim.of("groups", self.groups), self.states)
        b, c = (m.record("repeat", shared, to=axes(batch, seq, self.head, self.states)) for _ in "bc")
        decay = m.record("multiply", step, m.record("scale", m.record("exp", rate)))
        mix = self._one_step if work.decodes else self._in_chunks
        y, state = mix(m, values, b, c, decay)
        if work.keeps_cache:
            m.record("append", state, to=axes(batch, self.head, self.each, self.states))
        return y

    def _one_step(self, m: Module, values: Tensor, b: Tensor, c: Tensor, decay: Tensor) -> tuple[Tensor, Tensor]:
        batch, seq, head, each = values.dims
        to = axes(batch, seq, head, each, self.states)
        state = m.record("scan", m.record("exp", decay), m.record("multiply", values, b, to=to), to=to)
        return m.record("contract", state, c, to=values.axes, over=(self.states,)), state

    def _in_chunks(self, m: Module, values: Tensor, b: Tensor, c: Tensor, decay: Tensor) -> tuple[Tensor, Tensor]:
        batch, seq, head, each = values.dims
        chunks = Dim("chunks", (seq.size + self.chunk - 1) // self.chunk)
        place, other, state = Dim.of("chunk", self.chunk), Dim.of("other", self.chunk), self.states
        values = values.seen_as(batch, chunks, other, head, each)
        b, c = b.seen_as(batch, chunks, other, head, state), c.seen_as(batch, chunks, place, head, state)
        passed = m.record("add", decay.seen_as(batch, chunks, place, head), note="summed up within each chunk")
        before, last = self._handed_on(m, b, values, passed)
        across = m.record("contract", c, before, to=axes(batch, chunks, place, head, each), over=(state,))
        across = m.record("multiply", across, m.record("exp", passed))
        scores = m.record("contract", c, b, to=axes(batch, chunks, place, other, head), over=(state,), name="scores")
        scores = m.record("multiply", scores, m.record("exp", m.record("subtract", passed, to=scores.axes)))
        within = m.record("contract", scores, values, to=across.axes, over=(other,))
        found = m.record("add", within, across)
        return m.record("copy", found, to=axes(batch, seq, head, each), note="without the padding"), last

    def _handed_on(self, m: Module, b: Tensor, values: Tensor, passed: Tensor) -> tuple[Tensor, Tensor]:
        """The state before each chunk: the decayed sum of all earlier chunks."""
        batch, chunks, other, head, each = values.dims
        to_come = m.record("exp", m.record("subtract", passed)).seen_as(batch, chunks, other, head)
        made = axes(batch, chunks, head, each, self.states)
        left = m.record("contract", m.record("multiply", b, to_come), values, to=made, over=(other,))
        earlier, later = (Dim(name, chunks.size + 1) for name in ("earlier", "later"))
        left = m.record("concat", left, to=axes(batch, earlier, head, each, self.states))
        between = m.record("exp", m.record("subtract", passed, to=axes(batch, earlier, later, head)))
        states = m.record(
            "contract", between, left, to=axes(batch, later, head, each, self.states), over=(earlier,), name="states"
        )
        return states.seen_as(batch, chunks, head, each, self.states), states
