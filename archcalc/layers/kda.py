"""Kimi Delta Attention (KDA): Gated DeltaNet with a separate decay for every key channel.

It is Gated DeltaNet with a vector α for each head (Kimi Linear, arXiv:2510.26692). That vector, and the gate on
what was looked up, come from projections that may be squeezed to the width of one head.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.core.splits import joined
from archcalc.layers.attention import SELF
from archcalc.layers.conv import causal_conv
from archcalc.layers.delta import Delta
from archcalc.layers.linear import linear, one_each
from archcalc.layers.norm import norm
from archcalc.layers.one_kernel import kernel
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class KimiDelta(Delta):
    """The number of key heads equals that of value heads."""

    spec_kind: ClassVar[str] = "kda"
    squeeze: bool = True

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
        if not self.squeeze:
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
