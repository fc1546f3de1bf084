"""Compressed attention (DeepSeek-V4): one head that is key and value at once, in a window and of compressed positions.

    query = up(norm(down(x))), each head normalised          key = value = norm(x · W), one head for all
    looked at are the positions of a window, and behind them one entry for every `rate` positions before
    output = up(down of each group of heads)                  a narrow vector for each group

An entry is the sum of its positions' vectors, each number weighed by a softmax over them. With `overlap` it is made of
twice as many positions, which have two vectors each. An indexer selects the entries that a query looks at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Region, Role, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.core.splits import EVENLY
from archcalc.layers.attention import PROJECTED, concatenated, kept, looked_at
from archcalc.layers.attention_core import INPUT, Core
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.attention_mask import Sight
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear, one_each
from archcalc.layers.norm import norm

DENSE = Assumption(
    Topic.ATTENTION,
    "scores are counted for all positions and all compressed entries: transformers computes them and then masks",
)
CLOSED = Assumption(
    Topic.KV_CACHE,
    "positions that wait for their entry to be complete are not counted in the cache: fewer than one entry's",
)


@dataclass(frozen=True)
class Entries:
    """How positions become entries; `heads` and `top` are those of the indexer, none without one."""

    rate: int
    width: int
    overlap: bool = False

    def run(self, m: Module, x: Tensor, inputs: Inputs, *, trainable: bool = True) -> Tensor | None:
        """(batch, entries, width); None where the sequence is too short for one."""
        batch, seq, _ = x.dims
        series = Dim.of("series", 1 + self.overlap, copies=True)
        out = (series, Dim.of("entry_dim", self.width))
        value = linear(m["value"], x, out, bias=False, trainable=trainable, role=Role.ATTENTION_KV_DOWN)
        gate = linear(m["gate"], x, out, bias=False, trainable=trainable, role=Role.ATTENTION_GATE)
        rate = Dim.of("rate", self.rate)
        bias = m.param("position", rate, out, trainable=trainable, role=Role.BIAS)
        made = 1 if inputs.work.decodes else seq.size // self.rate
        if made:
            entries = Dim.of("made", made)
            closed = axes(batch, entries, rate, out)
            gate = m.record("add", gate.seen_as(*closed), bias, to=closed)
            weights = m.record("softmax_fp32", gate)
            each = m.record("multiply", value.seen_as(*closed), weights, to=closed)
            entry = m.record("sum", each, to=axes(batch, entries, out[1]), over=(rate, series))
            entry = norm(m["norm"], entry, "rms", trainable=trainable)
            return self._with_those_before(m, entry, inputs, seq)
        norm(m["norm"], value.seen_as(batch, seq, out[1]), "rms", trainable=trainable)
        return None

    def _with_those_before(self, m: Module, entry: Tensor, inputs: Inputs, seq: Dim) -> Tensor | None:
        batch, _, width = entry.dims
        looked = inputs.work.positions if inputs.work.decodes else seq.size
        if not looked // self.rate:
            return None
        past = replace(Dim.of("entries", looked // self.rate, positions=Positions.PAST), every=self.rate)
        if inputs.work.keeps_cache:
            m.words.memory_notes.append(CLOSED)
            return m.record("append", entry, to=axes(batch, past, width))
        return entry.seen_as(batch, past, width)


@dataclass(frozen=True)
class EntryIndexer:
    """Selects the `top` entries of each query, by entries of its own."""

    entries: Entries
    heads: int
    top: int

    def run(self, m: Module, x: Tensor, squeezed: Tensor, inputs: Inputs) -> None:
        m.region = Region.INDEXER
        m.words.work_notes.append(DENSE)
        batch, seq, _ = x.dims
        x, squeezed = x.detached(), squeezed.detached()
        found = self.entries.run(m["entries"], x, inputs, trainable=False)
        head, each = Dim.of("index_heads", self.heads, copies=True), Dim.of("entry_dim", self.entries.width)
        q = linear(m["q"], squeezed, (head, each), bias=False, trainable=False, role=Role.INDEXER_Q)
        weights = linear(m["weights"], x, head, bias=False, trainable=False, role=Role.INDEXER_WEIGHTS)
        if found is None:
            return
        past = found.dims[1]
        scores = m.record("contract", q, found, to=axes(batch, seq, head, past), over=(each,), name="index_scores")
        scores = m.record("multiply", m.record("relu", m.record("scale", scores)), m.record("scale", weights))
        summed = m.record("sum", scores, to=axes(batch, seq, past), over=(head,))
        top = Dim("chosen", Count.named("top", self.top).at_most(past.size))
        m.record("choose", summed, to=axes(batch, seq, top), name="chosen", note="of entries")


@dataclass(frozen=True)
class CompressedAttention:
    heads: int
    head_dim: int
    q_rank: int
    groups: int
    out_rank: int
    sight: Sight
    weights_dropout: float
    entries: Entries | None = None
    indexer: EntryIndexer | None = None
    softmax: str = INPUT

    def run(self, m: Module, x: Tensor, inputs: Inputs) -> Tensor:
        batch, seq, _ = x.dims
        head, each = heads_of(self.heads), Dim.of("head_dim", self.head_dim)
        q, squeezed = self._queries(m, x, head, each)
        key = norm(m["kv_norm"], linear(m["kv"], x, each, bias=False, role=Role.ATTENTION_KV_DOWN), "rms")
        q = self._rotated(m, q.seen_as(batch, head, seq, each), inputs)
        one = Dim.of("kv_heads", 1)
        key = self._rotated(m, key.seen_as(batch, one, seq, each), inputs)
        past = looked_at(x, x, inputs.work, self.sight)
        key = kept(m, key, past, inputs.work, self.sight, "append")
        core = Core(
            m.section(Region.CORE),
            inputs.work,
            inputs.mask,
            None,
            self.weights_dropout,
            self.sight,
            sinks=one_each(m, "sinks", head),
            softmax=self.softmax,
        )
        if self.entries and (found := self._with_entries(m, x, squeezed, key, inputs)):
            key, mask = found
            core = core._replace(mask=mask, sight=Sight(self.sight.causal))
        found_of_heads = self._rotated(m, core.run(q, key, key), inputs)
        return self._answer(m, concatenated(m, found_of_heads, each), x.dims[-1])

    def _queries(self, m: Module, x: Tensor, head: Dim, each: Dim) -> tuple[Tensor, Tensor]:
        squeezed = linear(m["q_down"], x, Dim.of("q_rank", self.q_rank), bias=False, role=Role.ATTENTION_Q_DOWN)
        squeezed = norm(m["q_norm"], squeezed, "rms")
        q = linear(m["q_up"], squeezed, (head, each), bias=False, role=Role.ATTENTION_Q_UP)
        by_head = q.seen_as(*x.dims[:2], head, each)
        return norm(m["q_head_norm"], by_head, "rms", affine=False), squeezed

    def _rotated(self, m: Module, x: Tensor, inputs: Inputs) -> Tensor:
        return m.style.rotary(m, x, *inputs.rotation) if inputs.rotation else x

    def _with_entries(
        self, m: Module, x: Tensor, squeezed: Tensor, key: Tensor, inputs: Inputs
    ) -> tuple[Tensor, Tensor | None] | None:
        """Keys of the window and of the entries, and their mask."""
        assert self.entries
        entries = self.entries.run(m["entries"], x, inputs)
        if self.indexer:
            self.indexer.run(m["indexer"], x, squeezed, inputs)
        if entries is None:
            return None
        batch, one, near, each = key.dims
        behind = entries.seen_as(batch, one, entries.dims[1], each)
        both = Dim("kv_seq_and_entries", near.size + entries.dims[1].size)
        joined = m.record("concat", key, behind, to=axes(batch, one, both, each))
        mask = inputs.mask and m.record("hide", inputs.mask, to=axes(x.dims[0], x.dims[1], both))
        return joined, mask

    def _answer(self, m: Module, found: Tensor, d_model: Dim) -> Tensor:
        """A projection of each group of heads to a narrow vector, and one of all of these."""
        batch, seq = found.dims[:2]
        group = Dim.of("groups", self.groups, copies=True, split=EVENLY)
        width, rank = Dim.of("group_dim", self.heads * self.head_dim // self.groups), Dim.of("out_rank", self.out_rank)
        down = m["out_down"]
        weight = down.param("weight", (group, rank), width, role=Role.ATTENTION_OUT)
        by_group = found.seen_as(batch, seq, group, width), weight.seen_as(group, rank, width)
        narrow = down.record("contract", *by_group, to=axes(batch, seq, group, rank), over=(width,))
        m["out"].words.about = PROJECTED
        joined = narrow.seen_as(batch, seq, (group, rank))
        return linear(m["out"], joined, d_model, bias=False, role=Role.ATTENTION_OUT)
