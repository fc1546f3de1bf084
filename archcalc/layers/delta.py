"""Gated DeltaNet: a state matrix for each head, updated for every token by the gated delta rule.

    S_t = α_t S_{t-1} + β_t k_t (v_t − k_tᵀ α_t S_{t-1})ᵀ        o_t = S_tᵀ q_t

A sequence is computed in chunks: within a chunk all corrections at once, by a triangular system; between chunks the
matrices are handed on. A decode step updates the matrix alone. One kernel computes all of it: for the backward pass it
keeps queries, keys, values and what α and β are made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.core.small import TWICE, like
from archcalc.core.splits import OF_STATES, Piece, joined
from archcalc.layers.attention import SELF
from archcalc.layers.conv import causal_conv
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear, one_each
from archcalc.layers.norm import norm
from archcalc.layers.one_kernel import kernel
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Chunks:
    """A sequence in chunks: batch, head, chunk and place, of the positions that read and of those that are read."""

    seq: Dim
    number: Dim
    other: Dim
    rows: tuple[Dim, ...]
    columns: tuple[Dim, ...]


@dataclass(frozen=True)
class Delta:
    spec_kind: ClassVar[str] = "delta"
    heads: int  # of queries and keys
    v_heads: int
    head_dim: int
    v_dim: int
    conv: int
    chunk: int

    def made_small(self, original: Delta) -> Delta:
        """Several value heads per key head; the width of values may differ from that of keys."""
        v_dim = like(self.v_dim, self.head_dim, original.v_dim, original.head_dim)
        return replace(self, v_heads=self.heads * min(original.v_heads // original.heads, TWICE), v_dim=v_dim)

    @property
    def head(self) -> Dim:
        return Dim.of("v_heads", self.v_heads, copies=True, split=OF_STATES)

    @property
    def key(self) -> Dim:
        return Dim.of("head_dim", self.head_dim)

    @property
    def value(self) -> Dim:
        return Dim.of("v_dim", self.v_dim)

    @property
    def _pieces(self) -> tuple[Piece, Piece, Piece]:
        """Queries, keys and values, as vLLM divides them: by whole heads (models/qwen3_next.py)."""
        keys = Piece(self.heads, self.head_dim)
        return keys, keys, Piece(self.v_heads, self.v_dim)

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        keys, values = heads_of(self.heads).size * self.key.size, self.head.size * self.value.size
        q, k, v = self._pieces
        mixed = Dim("q_k_v", 2 * keys + values, split=joined(q, k, v))
        everything = Dim("q_k_v_gate", 2 * keys + 2 * values, split=joined(q, k, v, v))  # the gate is as wide as v
        made = linear(m["in"], x, everything, bias=False, role=Role.DELTA_IN)
        both = (Dim.of("decay_and_rate", 2), self.head)
        rates = linear(m["rates"], x, both, bias=False, role=Role.DELTA_RATES)
        u = m.record("silu", causal_conv(m["conv"], made.seen_as(batch, seq, mixed), self.conv, bias=False, work=work))
        found = self._looked_up(m, u, rates, work)
        normed = norm(m["norm"], found, "rms")
        gate = m.record("silu", made.seen_as(batch, seq, self.head, self.value))
        return self._projected(m, m.record("multiply", normed, gate), d_model)

    def _projected(self, m: Module, found: Tensor, d_model: Dim) -> Tensor:
        batch, seq, *_ = found.dims
        joined = m.record("view", found, to=axes(batch, seq, (self.head, self.value)), name="concat")
        return linear(m["out"], joined, d_model, bias=False, role=Role.DELTA_OUT)

    def _looked_up(self, m: Module, u: Tensor, rates: Tensor, work: Workload) -> Tensor:
        batch, seq, _ = u.dims
        bias, slowness = one_each(m, "dt_bias", self.head), one_each(m, "A_log", self.head)
        m = kernel(m, work, "flash-linear-attention's chunk_gated_delta_rule")
        kv_head = heads_of(self.heads) if self.heads != self.v_heads else self.head
        q, k = (self._for_every_head(m, u.seen_as(batch, seq, kv_head, self.key)) for _ in "qk")
        q = m.record("scale", q)
        rate = m.record("sigmoid", rates.seen_as(batch, seq, self.head))
        decay = m.record("softplus", m.record("add", rates.seen_as(batch, seq, self.head), bias))
        decay = m.record("multiply", decay, m.record("scale", m.record("exp", slowness)))
        values = u.seen_as(batch, seq, self.head, self.value)
        return self._corrected(m, q, k, values, rate, decay, work)

    def _corrected(
        self, m: Module, q: Tensor, k: Tensor, values: Tensor, rate: Tensor, decay: Tensor, work: Workload
    ) -> Tensor:
        """The output: queries applied to the state matrices, which keys and values update by the delta rule."""
        values, corrected = m.record("multiply", values, rate), m.record("multiply", k, rate)
        look_up = self._one_step if work.decodes else self._in_chunks
        found, state = look_up(m, q, k, corrected, values, decay)
        if work.keeps_cache:
            m.record("append", state, to=axes(q.dims[0], self.head, self.key, self.value))
        return found

    def _for_every_head(self, m: Module, x: Tensor) -> Tensor:
        """L2-normalised queries and keys, broadcast to all value heads of their group."""
        batch, seq, head, each = x.dims
        unit = norm(m, x, "rms", affine=False)
        return unit if head == self.head else m.record("repeat", unit, to=axes(batch, seq, self.head, each))

    def _one_step(
        self, m: Module, q: Tensor, k: Tensor, corrected: Tensor, values: Tensor, decay: Tensor
    ) -> tuple[Tensor, Tensor]:
        batch, seq, head, key = q.dims
        state = Tensor(axes(batch, head, key, self.value), "cache")
        decayed = m.record("multiply", state, m.record("exp", decay.seen_as(batch, head, *decay.dims[3:])))
        known = m.record("contract", k, decayed, to=values.axes, over=(key,))
        correction = m.record("subtract", values, known)
        written = m.record("contract", corrected, correction, to=state.axes, over=(seq,))
        state = m.record("add", decayed, written)
        return m.record("contract", q, state, to=values.axes, over=(key,)), state

    def _in_chunks(
        self, m: Module, q: Tensor, k: Tensor, corrected: Tensor, values: Tensor, decay: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Decays are one number for each pair of positions within a chunk."""
        chunks = self._chunks(q)
        rows, columns, key = chunks.rows, chunks.columns, q.dims[-1]
        q, corrected, k = q.seen_as(*rows, key), corrected.seen_as(*rows, key), k.seen_as(*columns, key)
        passed = m.record("add", decay.seen_as(*rows), note="summed up within each chunk")
        since, to_come = m.record("exp", passed), m.record("exp", m.record("subtract", passed))
        between = m.record("exp", m.record("subtract", passed, to=axes(*rows, chunks.other)))
        system, scores = (m.record("contract", t, k, to=between.axes, over=(key,)) for t in (corrected, q))
        system, scores = (m.record("multiply", t, between) for t in (system, scores))
        new_values = m.record("solve", values.seen_as(*rows, self.value), system, over=(chunks.other,))
        reads = m.record("solve", m.record("multiply", corrected, since), system, over=(chunks.other,))
        k = m.record("multiply", k, to_come.seen_as(*columns)).seen_as(*rows, key)
        states, written = self._handed_on(m, chunks, reads, new_values, k, to_come.seen_as(*rows[:2]))
        return self._read(m, chunks, m.record("multiply", q, since), scores, states, written), states

    def _chunks(self, q: Tensor) -> Chunks:
        batch, seq, head, _ = q.dims
        number = Dim("chunks", (seq.size + self.chunk - 1) // self.chunk)
        place, other = Dim.of("chunk", self.chunk), Dim.of("other", self.chunk)
        return Chunks(seq, number, other, (batch, head, number, place), (batch, head, number, other))

    def _read(self, m: Module, chunks: Chunks, q: Tensor, scores: Tensor, states: Tensor, written: Tensor) -> Tensor:
        """What queries find in the state before their chunk, and what was written within it."""
        (batch, head, *_), value = chunks.rows, self.value
        before = m.record("contract", q, states, to=axes(*chunks.rows, value), over=q.dims[-1:])
        seen = written.seen_as(*chunks.columns, value)
        within = m.record("contract", scores, seen, to=before.axes, over=(chunks.other,))
        found = m.record("add", before, within)
        return m.record("copy", found, to=axes(batch, chunks.seq, head, value), note="without the padding")

    def _handed_on(
        self, m: Module, chunks: Chunks, reads: Tensor, new_values: Tensor, k: Tensor, fades: Tensor
    ) -> tuple[Tensor, Tensor]:
        """One chunk after the other: the state before it, and the values corrected by what that state predicts."""
        batch, head, _, place, key = reads.dims
        one, to = (batch, head, place), axes(batch, head, key, self.value)
        state = m.record("zeros", to=to)
        step = m.section("chunk")
        step.calls = chunks.number.size
        known = step.record("contract", reads.seen_as(*one, key), state, to=axes(*one, self.value), over=(key,))
        written = step.record("subtract", new_values.seen_as(*one, self.value), known)
        added = step.record("contract", k.seen_as(*one, key), written, to=to, over=(place,))
        after = step.record("add", step.record("multiply", state, fades), added)
        step.carries.append((state, after))
        every, later = chunks.rows[:3], Dim("later", chunks.number.size + 1)
        states = m.record("concat", after, to=axes(batch, head, later, key, self.value), name="states")
        written = m.record("concat", written, to=axes(*every, place, self.value))
        return states.seen_as(*every, key, self.value), written


@dataclass(frozen=True)
class KimiDelta(Delta):
    """Kimi Delta Attention (KDA): Gated DeltaNet with a vector α for each head, a decay for every key channel (Kimi
    Linear, arXiv:2510.26692). That vector, and the gate on what was looked up, come from projections that may be
    squeezed to the width of one head, both or the decays alone. The number of key heads equals that of value heads."""

    spec_kind: ClassVar[str] = "kda"
    squeeze: tuple[str, ...] = ("forget", "gate")

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        wide = {"q": self.key, "k": self.key, "v": self.value}
        made = [linear(m[name], x, (self.head, each), bias=False, role=SELF[name]) for name, each in wide.items()]
        keys, values = self.head.size * self.key.size, self.head.size * self.value.size
        mixed = Dim("q_k_v", 2 * keys + values, split=joined(*self._pieces))
        together = m.record("concat", *made, to=axes(batch, seq, mixed))
        u = m.record("silu", causal_conv(m["conv"], together, self.conv, bias=False, work=work))
        forget = self._squeezed(m, "forget", x, self.key)
        rate = linear(m["rate"], x, self.head, bias=False, role=Role.DELTA_GATES)
        found = self._looked_up_at(m, u, forget, rate, work)
        normed = norm(m["norm"], found, "rms")
        gate = m.record("sigmoid", self._squeezed(m, "gate", x, self.value)).seen_as(batch, seq, self.head, self.value)
        return self._projected(m, m.record("multiply", normed, gate), d_model)

    def _squeezed(self, m: Module, name: str, x: Tensor, each: Dim) -> Tensor:
        if name not in self.squeeze:
            return linear(m[name], x, (self.head, each), bias=False, role=Role.DELTA_GATES)
        squeezed = Dim.of("squeezed", self.head_dim)
        narrow = linear(m[f"{name}_in"], x, squeezed, bias=False, role=Role.DELTA_GATES)
        return linear(m[f"{name}_out"], narrow, (self.head, each), bias=False, role=Role.DELTA_GATES)

    def _looked_up_at(self, m: Module, u: Tensor, forget: Tensor, rate: Tensor, work: Workload) -> Tensor:
        batch, seq, _ = u.dims
        bias, slowness = m.param("dt_bias", (self.head, self.key), role=Role.BIAS), one_each(m, "A_log", self.head)
        m = kernel(m, work, "flash-linear-attention's chunk_kda")
        q, k = (norm(m, u.seen_as(batch, seq, self.head, self.key), "rms", affine=False) for _ in "qk")
        q, rate = m.record("scale", q), m.record("sigmoid", rate)
        decay = m.record("softplus", m.record("add", forget, bias)).seen_as(batch, seq, self.head, self.key)
        decay = m.record("multiply", decay, m.record("scale", m.record("exp", slowness)))
        values = u.seen_as(batch, seq, self.head, self.value)
        return self._corrected(m, q, k, values, rate, decay, work)

    def _in_chunks(
        self, m: Module, q: Tensor, k: Tensor, corrected: Tensor, values: Tensor, decay: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Decays are applied to queries and keys, since they differ by channel."""
        chunks, key = self._chunks(q), q.dims[-1]
        rows, columns, other = chunks.rows, chunks.columns, chunks.other
        passed = m.record("add", decay.seen_as(*rows, key), note="summed up within each chunk")
        since, until = m.record("exp", passed), m.record("exp", m.record("scale", passed))
        to_come = m.record("exp", m.record("subtract", passed))
        q, corrected = (m.record("multiply", t.seen_as(*rows, key), since) for t in (q, corrected))
        before = m.record("multiply", k.seen_as(*rows, key), until).seen_as(*columns, key)
        system, scores = (m.record("contract", t, before, to=axes(*rows, other), over=(key,)) for t in (corrected, q))
        seen = axes(rows[-1], other)
        system, scores = (m.record("multiply", t, m.record("constant", to=seen)) for t in (system, scores))
        new_values = m.record("solve", values.seen_as(*rows, self.value), system, over=(other,))
        reads = m.record("solve", corrected, system, over=(other,))
        k = m.record("multiply", k.seen_as(*rows, key), to_come)
        states, written = self._handed_on(m, chunks, reads, new_values, k, to_come.seen_as(*rows[:2], key))
        return self._read(m, chunks, q, scores, states, written), states
