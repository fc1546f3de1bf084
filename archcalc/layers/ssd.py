"""Mamba-2: one decay for each head, so that a chunk of positions is computed at once by matrix products.

Within a chunk every position looks back at the others, as in attention (C·Bᵀ in the place of q·kᵀ); between chunks
only a state is handed on. A sequence is padded to whole chunks. A decode step updates the state alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.count import Count
from archcalc.ir import Dim, Module, Tensor, axes
from archcalc.layers.conv import causal_conv
from archcalc.layers.linear import linear, one_each
from archcalc.workload import Workload


@dataclass(frozen=True)
class Mamba2:
    inner: int
    heads: int
    state: int
    groups: int
    conv: int
    bias: bool
    conv_bias: bool
    chunk: int

    @property
    def head(self) -> Dim:
        return Dim.of("heads", self.heads, copies=True)

    @property
    def each(self) -> Dim:
        return Dim.of("head_dim", self.inner // self.heads)

    @property
    def states(self) -> Dim:
        return Dim.of("state", self.state)

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        inner, head = Dim.of("inner", self.inner), self.head
        mixed = Dim("inner_b_c", inner.size + 2 * Count.named("groups", self.groups) * self.states.size)
        everything = Dim("gate_inner_b_c_dt", inner.size + mixed.size + head.size)
        made = linear(m["in"], x, everything, bias=self.bias)
        u = causal_conv(m["conv"], made.seen_as(batch, seq, mixed), self.conv, bias=self.conv_bias, work=work)
        step = m.record("softplus", m.record("add", made.seen_as(batch, seq, head), one_each(m, "dt_bias", head)))
        y = self._mixed(m, m.record("silu", u), step, work).seen_as(batch, seq, inner)
        gated = m.record("multiply", y, m.record("silu", made.seen_as(batch, seq, inner)))
        normed = m["norm"].record("rms_norm", gated, m["norm"].param("weight", inner))
        return linear(m["out"], normed, d_model, bias=self.bias)

    def _mixed(self, m: Module, u: Tensor, step: Tensor, work: Workload) -> Tensor:
        batch, seq, _ = u.dims
        values = m.record("multiply", u.seen_as(batch, seq, self.head, self.each), step)
        group = Dim.of("groups", self.groups)
        b, c = (
            m.record("repeat", u.seen_as(batch, seq, group, self.states), to=axes(batch, seq, self.head, self.states))
            for _ in "bc"
        )
        decay = m.record("multiply", step, m.record("exp", one_each(m, "A_log", self.head)))
        mix = self._one_step if work.decodes else self._in_chunks
        y, state = mix(m.section("core"), values, b, c, decay)
        if work.keeps_cache:
            m.record("append", state, to=axes(batch, self.head, self.each, self.states))
        skipped = m.record("multiply", u.seen_as(batch, seq, self.head, self.each), one_each(m, "D", self.head))
        return m.record("add", y, skipped)

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
        decay = decay.seen_as(batch, chunks, place, head)
        scores = m.record("contract", c, b, to=axes(batch, chunks, place, other, head), over=(state,), name="scores")
        passed = m.record("exp", decay, to=scores.axes)
        within = m.record(
            "contract",
            m.record("multiply", scores, passed),
            values,
            to=axes(batch, chunks, place, head, each),
            over=(other,),
        )
        before, last = self._handed_on(m, m.record("multiply", b, m.record("exp", decay)), values, decay)
        across = m.record("contract", c, before, to=within.axes, over=(state,))
        across = m.record("multiply", across, m.record("exp", decay))
        return m.record("add", within, across).seen_as(batch, seq, head, each), last

    def _handed_on(self, m: Module, b: Tensor, values: Tensor, decay: Tensor) -> tuple[Tensor, Tensor]:
        """The state before each chunk: what all earlier chunks left, each decayed by what lies between."""
        batch, chunks, other, head, each = values.dims
        made = axes(batch, chunks, head, each, self.states)
        left = m.record("contract", b.seen_as(*b.dims[:2], other, *b.dims[3:]), values, to=made, over=(other,))
        earlier, later = (Dim(name, chunks.size + 1) for name in ("earlier", "later"))
        left = m.record("concat", left, to=axes(batch, earlier, head, each, self.states))
        passed = m.record("exp", decay, to=axes(batch, earlier, later, head))
        states = m.record(
            "contract", passed, left, to=axes(batch, later, head, each, self.states), over=(earlier,), name="states"
        )
        return states.seen_as(batch, chunks, head, each, self.states), states
