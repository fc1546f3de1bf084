"""The indexer of sparse attention (DeepSeek-V3.2): selects the top-k positions that attention attends to.

    score = Σ over heads of weight · relu(query · key); of all positions the `top` with the highest scores are chosen

The selection has no gradient: its weights get none from the model's loss, and are counted as frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Count, Dim, Module, Region, Role, Tensor, axes
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm

DENSE = Assumption(
    Topic.ATTENTION,
    "scores of sparse attention are counted for all positions, since transformers computes all and then masks",
)


BLOCKWISE = Assumption(
    Topic.ATTENTION,
    "scores of block-sparse attention are counted for all positions, since transformers computes all and then masks",
)


@dataclass(frozen=True)
class BlockIndexer:
    """Selects blocks of keys (MiniMax-M3): the best score within each, for each of its heads."""

    heads: int
    head_dim: int
    top: int
    block: int

    def run(self, m: Module, x: Tensor, past: Dim, inputs: Inputs) -> Tensor:
        """The indices of the selected blocks."""
        m.region = Region.INDEXER
        m.words.work_notes.append(BLOCKWISE)
        m.words.whole_sequence = "an index over all positions"
        x = x.detached()
        batch, seq, _ = x.dims
        head, each = Dim.of("index_heads", self.heads, copies=True), Dim.of("index_dim", self.head_dim)
        q = linear(m["q"], x, (head, each), bias=False, trainable=False, role=Role.INDEXER_Q)
        k = linear(m["k"], x, each, bias=False, trainable=False, role=Role.INDEXER_K)
        q = norm(m["q_norm"], q.seen_as(batch, seq, head, each), "rms", trainable=False)
        k = norm(m["k_norm"], k, "rms", trainable=False)
        k = (
            m.record("append", k, to=axes(batch, past, each))
            if inputs.work.keeps_cache
            else k.seen_as(batch, past, each)
        )
        scores = m.record("contract", q, k, to=axes(batch, seq, head, past), over=(each,), name="index_scores")
        if inputs.mask:
            scores = m.record("mask", scores.seen_as(batch, head, seq, past), inputs.mask)
        blocks = Dim.of("key_blocks", -(-int(past.size) // self.block))
        best = m.record("largest", scores, to=axes(batch, head, seq, blocks), over=(past,))
        chosen = Dim("chosen", Count.named("top", self.top).at_most(blocks.size))
        m.record("choose", best, to=axes(batch, head, seq, chosen), name="chosen", note="of blocks of keys")
        return m.ops[-1].beside["indices"]


@dataclass(frozen=True)
class Indexer:
    heads: int
    head_dim: int
    top: int

    def run(self, m: Module, x: Tensor, squeezed: Tensor, past: Dim, inputs: Inputs) -> Tensor:
        """The indices of the selected positions. Queries come from latent ones; keys have their own cache."""
        m.region = Region.INDEXER
        m.words.work_notes.append(DENSE)
        m.words.whole_sequence = "an index over all positions"
        x, squeezed = x.detached(), squeezed.detached()
        q, k = self._queries_and_keys(m, x, squeezed, past, inputs)
        (batch, head, seq, each), past = q.dims, k.dims[1]
        scores = m.record("contract", q, k, to=axes(batch, head, seq, past), over=(each,), name="index_scores")
        scores = m.record("relu", m.record("scale", scores))
        weights = linear(m["weights"], x, head, bias=False, trainable=False, role=Role.INDEXER_WEIGHTS)
        weights = m.record("scale", weights)
        scores = m.record("contract", weights, scores, to=axes(batch, seq, past), over=(head,))
        if inputs.mask:
            scores = m.record("mask", scores, inputs.mask)
        chosen = Dim("chosen", Count.named("top", self.top) if self.top < past.size else past.size)
        m.record("choose", scores, to=axes(*x.dims[:2], chosen), name="chosen", note="of positions")
        return m.ops[-1].beside["indices"]

    def _queries_and_keys(
        self, m: Module, x: Tensor, squeezed: Tensor, past: Dim, inputs: Inputs
    ) -> tuple[Tensor, Tensor]:
        batch, seq, _ = x.dims
        head, each = Dim.of("index_heads", self.heads, copies=True), Dim.of("index_dim", self.head_dim)
        q = linear(m["q"], squeezed, (head, each), bias=False, trainable=False, role=Role.INDEXER_Q)
        q = q.seen_as(batch, head, seq, each)
        k = linear(m["k"], x, each, bias=False, trainable=False, role=Role.INDEXER_K)
        k = norm(m["k_norm"], k, "layer", trainable=False)
        if inputs.rotation:
            q, k = (m.style.rotary(m, one, *inputs.rotation) for one in (q, k))
        if inputs.work.keeps_cache:
            return q, m.record("append", k, to=axes(batch, past, each))
        return q, k.seen_as(batch, past, each)
