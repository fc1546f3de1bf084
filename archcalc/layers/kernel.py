"""Kernel (linear) attention: a similarity φ(q)·φ(k) instead of softmax, linear in the sequence length.

    softmax   Σ_m exp(q_n·k_m) v_m / Σ_m exp(q_n·k_m)      every query meets every key
    kernel    φ(q_n)·(Σ_m φ(k_m) v_mᵀ) / φ(q_n)·Σ_m φ(k_m)  the sums over m are taken once

`poly2` is (q·k + 1)²: its φ lists 1, √2·x_i, x_i² and √2·x_i·x_j, which is (D + 1)(D + 2) / 2 features of D numbers.
`elu` is elu(x) + 1 and `relu` is max(x, 0), both of D features.

Where a position sees only those up to itself, there are sums for each of them: one kernel computes them all, and keeps
queries, keys and values for the backward pass, but no sum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Count, Dim, Module, Region, Tensor, axes
from archcalc.layers.attention import Heads, concatenated, looked_at, rotated
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.linear import each_by_itself, linear
from archcalc.layers.one_kernel import kernel

if TYPE_CHECKING:
    from archcalc.spec.workload import Workload

FUSED = "causal linear attention in chunks, as in flash-linear-attention"

NORMALISER = "normaliser"


def feature_width(feature: str, head_dim: int) -> Count:
    """The number of features of φ for one head."""
    width = Count(head_dim)
    return (width + 1) * (width + 2) // 2 if feature == "poly2" else width


@dataclass(frozen=True)
class KernelAttention(Heads):
    """Like `Attention`, with a feature map instead of scores and softmax."""

    lookup: ClassVar[str] = "φ(q)·state ÷ normaliser"
    feature: str = "elu"

    def made_small(self, original: KernelAttention) -> KernelAttention:
        return self.with_groups(original)

    def run(self, m: Module, x: Tensor, inputs: Inputs) -> Tensor:
        batch, seq, d_model = x.dims
        memory = inputs.memory or x
        was_summed = inputs.work.decodes and memory is not x  # the encoder's output, before the first token
        m["k"].calls = m["v"].calls = calls = Count(0) if was_summed else Count(1)
        first, *others = self.projections
        (head, key), (kv_head, value) = first.out, others[1].out
        q = linear(m["q"], x, first.out, bias=first.bias, role=first.role).seen_as(batch, head, seq, key)
        k, v = each_by_itself(m, memory, tuple(others))
        past = looked_at(x, memory)
        k, v = k.seen_as(batch, kv_head, past, key), v.seen_as(batch, kv_head, past, value)
        causal = self.sight.causal
        core = kernel(m, inputs.work, FUSED) if causal else m.section(Region.CORE)
        m.words.whole_sequence = "sums of kernel attention over all positions"
        found = concatenated(m, self._looked_up(core, q, k, v, inputs, calls), value, self.lookup)
        self.describe(m, d_model)
        m.words.memory_notes.extend(self._held(inputs.work))
        return self.answer(m, found, d_model)

    def _held(self, work: Workload) -> list[Assumption]:
        """What memory is counted for in place of scores, keys and values."""
        features, value = int(feature_width(self.feature, self.head_dim)), self.v_dim or self.head_dim
        sums = f"kernel attention caches sums, no keys and values: {features:,} × {value:,} + {features:,} numbers"
        cached = Assumption(Topic.STATE, f"{sums} for each key-value head of a block, at any context", self.feature)
        stored = f"kernel attention by separate operations: {features:,} features of every position are stored at once"
        apart = Assumption(Topic.KERNEL, stored, self.feature)
        is_apart = not (self.sight.causal or work.decodes)
        return [note for note, holds in ((cached, work.keeps_cache), (apart, is_apart)) if holds]

    def _looked_up(self, m: Module, q: Tensor, k: Tensor, v: Tensor, inputs: Inputs, calls: Count) -> Tensor:
        """The two sums over positions, and what every query makes of them. The sums are all that has to be kept for the
        next token: their size does not depend on how many came before. Work on keys and values is done `calls` times.

        Rotation is seen by (q·k + 1)² as it is by q·k. Other features turn themselves, but not in the normaliser, which
        has to stay above 0."""
        sums, work, rotation = m.section("sums"), inputs.work, inputs.rotation
        sums.calls = calls
        if rotation and self.feature == "poly2":
            q, k = rotated(m, q, "q", rotation), rotated(sums, k, "k", rotation)
        q, k = self._features(m, q, "q"), self._features(sums, k, "k")
        (batch, head, seq, features), (_, kv_head, past, width) = q.dims, v.dims
        so_far = "summed so far" if self.sight.causal else "summed over positions"
        to, note = axes(batch, kv_head, features), f"φ(k), {so_far}"
        summed = sums.record("sum", k, to=to, over=(past,), name="sum_of_features", note=note)
        to, note, summed = axes(batch, head, seq), "φ(q) · sum of features", _kept(m, sums, summed, head, work)
        normaliser = m.record("contract", q, summed, to=to, over=(features,), name=NORMALISER, note=note)
        if rotation and self.feature != "poly2":
            q, k = rotated(m, q, "q", rotation), rotated(sums, k, "k", rotation)
        to, note = axes(batch, kv_head, features, width), f"φ(k)ᵀv, {so_far}"
        state = sums.record("contract", k, v, to=to, over=(past,), name="state", note=note)
        state = _kept(m, sums, state, head, work)
        numerator = m.record("contract", q, state, to=axes(batch, head, seq, width), over=(features,))
        return m.record("divide", numerator, normaliser)

    def _features(self, m: Module, x: Tensor, name: str) -> Tensor:
        """One step each, as a fused kernel makes it: products computed and joined one by one would keep more."""
        *rows, each = x.dims
        to = axes(*rows, Dim.of("features", feature_width(self.feature, each.size)))
        if self.feature == "poly2":
            return m.record("multiply", x, x, to=to, name=f"features_of_{name}", note="1, √2·x_i, x_i², √2·x_i·x_j")
        if self.feature == "relu":
            return m.record("relu", x, to=to, name=f"features_of_{name}", note="max(x, 0)")
        return m.record("add", m.record("elu", x, to=to), name=f"features_of_{name}", note="elu(x) + 1")


def _kept(m: Module, sums: Module, total: Tensor, head: Dim, work: Workload) -> Tensor:
    """Sums, which a decode step adds to; with fewer key-value heads, a group of queries reads the same."""
    if work.decodes:
        total = sums.record("add", total)
    if work.keeps_cache:
        total = m.record("append", total)
    batch, kv_head, *rest = total.dims
    return total if kv_head == head else m.record("repeat", total, to=axes(batch, head, *rest))
