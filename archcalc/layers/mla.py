"""Multi-head latent attention (DeepSeek-V2): keys and values of all heads from one latent vector, which is all that is
cached, together with one rotated key that the heads share.

    latent = norm(x · W_down)            kv_rank wide;   key, value = latent · W_up, for every head
    key    = [key; rotated(x · W_rope)]  nope_dim + rope_dim wide

A sequence is expanded to full keys and values. A decode step would expand its whole context again, so that W_up is
rather put on the query and on what was looked up, where one position is computed instead of the context ("absorbed").
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Count, Dim, Module, Param, Region, Role, Tensor, axes
from archcalc.core.small import like
from archcalc.layers.attention import PROJECTED, concatenated, looked_at
from archcalc.layers.attention_core import INPUT, Core
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.attention_mask import Sight
from archcalc.layers.dims import heads_of
from archcalc.layers.indexer import Indexer
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm

ABSORBED = Assumption(
    Topic.ATTENTION,
    "a decode step of latent attention absorbs W_up into the query and the output, not into every cached position",
)


@dataclass(frozen=True)
class Widths:
    heads: int
    q_rank: int | None
    kv_rank: int
    nope: int
    rope: int
    value: int

    def made_small(self, original: Widths) -> Widths:
        """Whether values have the width of keys is preserved in a small model."""
        keys, original_keys = self.nope + self.rope, original.nope + original.rope
        return replace(self, value=like(self.value, keys, original.value, original_keys))

    @property
    def head(self) -> Dim:
        return heads_of(self.heads)

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
    """As `Attention`, with queries, keys and values from latent vectors."""

    widths: Widths
    bias: bool  # of the projections down and out; those up have none
    norm: str
    sight: Sight
    weights_dropout: float
    indexer: Indexer | None = None  # what chooses the positions that are looked at
    gate: str = ""  # on what was looked up: own, or one number for each head
    softmax: str = INPUT

    def run(self, m: Module, x: Tensor, inputs: Inputs) -> Tensor:
        d_model = x.dims[-1]
        q, squeezed = self._queries(m, x, inputs)
        latent, shared_key = self._cached(m, x, inputs)
        if inputs.work.decodes:
            found = self._absorbed(m, self._core(m, x, squeezed, inputs), q, latent, shared_key)
        else:
            k, v = self._expanded(m, latent, shared_key)
            found = self._core(m, x, squeezed, inputs).run(q, k, v)
        joined = concatenated(m, found, Dim.of("v_dim", self.widths.value))
        if self.gate:
            out = joined.axes[-1] if self.gate == "own" else (self.widths.head,)
            gate = linear(m["gate"], x, out, bias=False, role=Role.ATTENTION_GATE)
            joined = m.record("multiply", joined, m.record("sigmoid", gate))
        m["out"].words.about = PROJECTED
        return linear(m["out"], joined, d_model, bias=self.bias, role=Role.ATTENTION_OUT)

    def _queries(self, m: Module, x: Tensor, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """The queries of all heads, and the latent vector they come from."""
        batch, seq, _ = x.dims
        widths = self.widths
        if widths.q_rank:
            rank = Dim.of("q_rank", widths.q_rank)
            x = linear(m["q_down"], x, rank, bias=self.bias, role=Role.ATTENTION_Q_DOWN)
            x = norm(m["q_norm"], x, self.norm)
        name, role = ("q_up", Role.ATTENTION_Q_UP) if widths.q_rank else ("q", Role.ATTENTION_Q)
        m[name].words.about = f"{widths.nope} + {widths.rope} for RoPE, each head"
        q = linear(m[name], x, (widths.head, widths.query), bias=False, role=role)
        return _rotated(m, q.seen_as(batch, widths.head, seq, widths.query), inputs), x

    def _core(self, m: Module, x: Tensor, squeezed: Tensor, inputs: Inputs) -> Core:
        """Dense, or sparse by an indexer: a sparse kernel reads the selected positions, eager attention masks."""
        work = inputs.work
        dropout, region = self.weights_dropout, m.section(Region.CORE)
        core = Core(region, work, inputs.mask, None, dropout, self.sight, softmax=self.softmax)
        if not self.indexer:
            return core
        past = looked_at(x, x, work)
        chosen = self.indexer.run(m["indexer"], x, squeezed, past, inputs)
        if work.attention == "flash" and not work.decodes:
            return core._replace(chosen=chosen)
        return core._replace(mask=m.record("hide", chosen, to=axes(*x.dims[:2], past)))

    def _cached(self, m: Module, x: Tensor, inputs: Inputs) -> tuple[Tensor, Tensor]:
        """The latent vector and the rotated key of every position that can be attended to."""
        batch, seq, _ = x.dims
        rank, rope = Dim.of("kv_rank", self.widths.kv_rank), Dim.of("rope_dim", self.widths.rope)
        m["kv_down"].words.about, m["kv_norm"].words.about = "latent and RoPE key", "latent: cached"
        down = linear(m["kv_down"], x, self.widths.down, bias=self.bias, role=Role.ATTENTION_KV_DOWN)
        latent = norm(m["kv_norm"], down.seen_as(batch, seq, rank), self.norm)
        shared_key = _rotated(m, down.seen_as(batch, seq, rope), inputs)
        past = looked_at(x, x, inputs.work)
        if inputs.work.keeps_cache:
            latent = m.record("append", latent, to=axes(batch, past, rank))
            return latent, m.record("append", shared_key, to=axes(batch, past, rope))
        return latent.seen_as(batch, past, rank), shared_key.seen_as(batch, past, rope)

    def _expanded(self, m: Module, latent: Tensor, shared_key: Tensor) -> tuple[Tensor, Tensor]:
        """Keys and values of all heads."""
        batch, past, _ = latent.dims
        widths = self.widths
        m["kv_up"].words.about = "keys and values of all heads"
        both = linear(m["kv_up"], latent, (widths.head, widths.up), bias=False, role=Role.ATTENTION_KV_UP)
        seen = axes(batch, widths.head, past, Dim.of("v_dim", widths.value))
        value = m.record("copy" if m.style.values_are_copied else "slice", both, to=seen)
        key = m.record("concat", both, shared_key, to=axes(batch, widths.head, past, widths.query))
        return key, value

    def _absorbed(self, m: Module, core: Core, q: Tensor, latent: Tensor, shared_key: Tensor) -> Tensor:
        """Absorbed attention: scores against the latent vectors, which all heads share."""
        m.words.work_notes.append(ABSORBED)
        widths, rank = self.widths, latent.dims[2]
        elements, out = rank.size * (widths.head.size * widths.up.size), (widths.head, widths.up)
        up = m["kv_up"].param("weight", out, rank, elements=elements, role=Role.ATTENTION_KV_UP)
        scores = self._scores_on_latent(core.m, up, q, latent, shared_key)
        if core.mask:
            scores = core.m.record("mask", scores, core.mask, sees=self.indexer.top if self.indexer else None)
        # (weights · latent) · W_up
        m, weights, value = core.m, core.weights(scores), Dim.of("v_dim", widths.value)
        batch, head, seq, past = weights.dims
        found = m.record("contract", weights, latent, to=axes(batch, head, seq, rank), over=(past,))
        by_head = found, up.seen_as(head, value, rank)
        return m.record("contract", *by_head, to=axes(batch, head, seq, value), over=(rank,))

    def _scores_on_latent(self, m: Module, up: Param, q: Tensor, latent: Tensor, shared_key: Tensor) -> Tensor:
        """(q · W_up) · latent, plus the rotated part of the query on the rotated key."""
        batch, head, seq, _ = q.dims
        _, past, rank = latent.dims
        nope, rope = Dim.of("nope_dim", self.widths.nope), shared_key.dims[2]
        by_head = q.seen_as(batch, head, seq, nope), up.seen_as(head, nope, rank)
        on_latent = m.record("contract", *by_head, to=axes(batch, head, seq, rank), over=(nope,))
        scores = m.record("contract", on_latent, latent, to=axes(batch, head, seq, past), over=(rank,), name="scores")
        turned = q.seen_as(batch, head, seq, rope)
        scores = m.record("add", scores, m.record("contract", turned, shared_key, to=scores.axes, over=(rope,)))
        return m.record("scale", scores)


def _rotated(m: Module, x: Tensor, inputs: Inputs) -> Tensor:
    return m.style.rotary(m, x, *inputs.rotation) if inputs.rotation else x
