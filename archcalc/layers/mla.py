"""Multi-head latent attention (DeepSeek-V2): keys and values of all heads from one narrow vector, which is all that is
cached, together with one rotated key that the heads share.

    latent = norm(x · W_down)            kv_rank wide;   key, value = latent · W_up, for every head
    key    = [key; rotated(x · W_rope)]  nope_dim + rope_dim wide

A sequence is expanded to full keys and values. A decode step would expand its whole context again, so that W_up is
rather put on the query and on what was looked up, where one position is computed instead of the context ("absorbed").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Param, Tensor, axes
from archcalc.layers.attention import INPUT, Core, Rotation, looked_at
from archcalc.layers.attention_mask import Sight
from archcalc.layers.indexer import Indexer
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.spec.workload import Workload

ABSORBED = "a decode step of latent attention puts W_up on the query and the answer, not on every cached position"


@dataclass(frozen=True)
class Widths:
    heads: int
    q_rank: int | None
    kv_rank: int
    nope: int
    rope: int
    value: int

    @property
    def head(self) -> Dim:
        return Dim.of("heads", self.heads, copies=True)

    @property
    def query(self) -> Dim:
        return Dim("query_dim", Count.named("nope_dim", self.nope) + Count.named("rope_dim", self.rope))

    @property
    def up(self) -> Dim:
        return Dim("key_and_value", Count.named("nope_dim", self.nope) + Count.named("v_dim", self.value))

    @property
    def down(self) -> Dim:
        return Dim("latent_and_rope", Count.named("kv_rank", self.kv_rank) + Count.named("rope_dim", self.rope))


@dataclass(frozen=True)
class LatentAttention:
    m: Module
    work: Workload
    widths: Widths
    bias: bool  # of the projections down and out; those up have none
    norm: str
    sight: Sight
    rotation: Rotation | None
    mask: Tensor | None
    dropout: float
    indexer: Indexer | None = None  # what chooses the positions that are looked at
    gate: str = ""  # on what was looked up: own, or one number for each head
    softmax: str = INPUT

    def run(self, x: Tensor) -> Tensor:
        """As `attention`, with queries, keys and values that come from narrow vectors."""
        batch, seq, d_model = x.dims
        q, squeezed = self._queries(x)
        latent, shared_key = self._kept(x)
        expanded = None if self.work.decodes else self._expanded(latent, shared_key)
        core = Core(self.m.section("core"), self.work, self.mask, None, self.dropout, self.sight, softmax=self.softmax)
        core = self._pointed(core, x, squeezed) if self.indexer else core
        if expanded:
            found = core.flash(q, *expanded) if self.work.attention == "flash" else core.eager(q, *expanded)
        else:
            found = self._absorbed(core, q, latent, shared_key)
        value = Dim.of("v_dim", self.widths.value)
        joined = axes(batch, seq, (self.widths.head, value))
        concatenated = self.m.record("view", found, to=joined, name="concat", note="heads concatenated")
        concatenated = self._opened(x, concatenated) if self.gate else concatenated
        return linear(self.m["out"], concatenated, d_model, bias=self.bias)

    def _opened(self, x: Tensor, found: Tensor) -> Tensor:
        gate = linear(self.m["gate"], x, found.axes[-1] if self.gate == "own" else self.widths.head, bias=False)
        return self.m.record("multiply", found, self.m.record("sigmoid", gate))

    def _queries(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Of all heads, and what they were made of."""
        batch, seq, _ = x.dims
        m, widths = self.m, self.widths
        if widths.q_rank:
            x = linear(m["q_down"], x, Dim.of("q_rank", widths.q_rank), bias=self.bias)
            x = norm(m["q_norm"], x, self.norm)
        q = linear(m["q_up" if widths.q_rank else "q"], x, (widths.head, widths.query), bias=False)
        return self._rotated(q.seen_as(batch, widths.head, seq, widths.query)), x

    def _pointed(self, core: Core, x: Tensor, squeezed: Tensor) -> Core:
        """The core that looks where an indexer points: a kernel is told the places, else all others are masked."""
        assert self.indexer
        past = looked_at(x, x, self.work)
        chosen = self.indexer.run(self.m["indexer"], x, squeezed, past, self.work, self.rotation, self.mask)
        if self.work.attention == "flash" and not self.work.decodes:
            return replace(core, chosen=chosen)
        return replace(core, mask=self.m.record("hide", chosen, to=axes(*x.dims[:2], past)))

    def _rotated(self, x: Tensor) -> Tensor:
        return self.m.record("rotate", x, *self.rotation) if self.rotation else x

    def _kept(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The latent vector and the rotated key of every position that can be looked at."""
        batch, seq, _ = x.dims
        m, widths = self.m, self.widths
        rank, rope = Dim.of("kv_rank", widths.kv_rank), Dim.of("rope_dim", widths.rope)
        down = linear(m["kv_down"], x, widths.down, bias=self.bias)
        latent = norm(m["kv_norm"], down.seen_as(batch, seq, rank), self.norm)
        shared_key = self._rotated(down.seen_as(batch, seq, rope))
        past = looked_at(x, x, self.work)
        kept = ((latent, rank), (shared_key, rope))
        if self.work.keeps_cache:
            latent, shared_key = (m.record("append", t, to=axes(batch, past, width)) for t, width in kept)
            return latent, shared_key
        latent, shared_key = (t.seen_as(batch, past, width) for t, width in kept)
        return latent, shared_key

    def _expanded(self, latent: Tensor, shared_key: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads."""
        batch, past, _ = latent.dims
        m, widths = self.m, self.widths
        both = linear(m["kv_up"], latent, (widths.head, widths.up), bias=False)
        value = m.record("copy", both, to=axes(batch, widths.head, past, Dim.of("v_dim", widths.value)))
        key = m.record("concat", both, shared_key, to=axes(batch, widths.head, past, widths.query))
        return key, value

    def _absorbed(self, core: Core, q: Tensor, latent: Tensor, shared_key: Tensor) -> Tensor:
        """Scores against the latent vectors themselves; all heads look at the same ones."""
        m, widths, (batch, head, seq, _) = core.m, self.widths, q.dims
        self.m.work_notes.append(ABSORBED)
        past, rank, rope = latent.dims[1], latent.dims[2], shared_key.dims[2]
        nope, value = Dim.of("nope_dim", widths.nope), Dim.of("v_dim", widths.value)
        up = self._weight_up(rank)
        by_head = q.seen_as(batch, head, seq, nope), up.seen_as(head, nope, rank)
        on_latent = m.record("contract", *by_head, to=axes(batch, head, seq, rank), over=(nope,))
        scores = m.record("contract", on_latent, latent, to=axes(batch, head, seq, past), over=(rank,), name="scores")
        rotated = q.seen_as(batch, head, seq, rope)
        scores = m.record("add", scores, m.record("contract", rotated, shared_key, to=scores.axes, over=(rope,)))
        scores = m.record("scale", scores)
        scores = m.record("mask", scores, core.mask) if core.mask else scores
        weights = core.weights(scores)
        found = m.record("contract", weights, latent, to=axes(batch, head, seq, rank), over=(past,))
        by_head = found, up.seen_as(head, value, rank)
        return m.record("contract", *by_head, to=axes(batch, head, seq, value), over=(rank,))

    def _weight_up(self, rank: Dim) -> Param:
        widths = self.widths
        elements = rank.size * (widths.head.size * widths.up.size)
        return self.m["kv_up"].param("weight", (widths.head, widths.up), rank, elements=elements)
