"""An indexer (DeepSeek-V3.2): a small attention that only chooses which positions the large one looks at.

    score = Σ over heads of weight · relu(query · key); of all positions the `top` with the highest scores are chosen

Nothing is learned through a choice: its weights get no gradient from the model's loss, and are counted as frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.count import Count
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.spec.workload import Workload

DENSE = "scores of sparse attention are counted for all positions, as transformers computes them before it hides some"


@dataclass(frozen=True)
class Indexer:
    heads: int
    head_dim: int
    top: int

    def run(
        self,
        m: Module,
        x: Tensor,
        squeezed: Tensor,
        past: Dim,
        work: Workload,
        rotation: tuple[Tensor, Tensor] | None,
        mask: Tensor | None,
    ) -> Tensor:
        """The places of the chosen positions. Queries come from `squeezed` ones, keys are kept beside attention's."""
        m.work_notes.append(DENSE)
        m.whole_sequence = "an index over all positions"
        batch, seq, _ = x.dims
        head, each = Dim.of("index_heads", self.heads, copies=True), Dim.of("index_dim", self.head_dim)
        x, squeezed = x.detached(), squeezed.detached()
        q = linear(m["q"], squeezed, (head, each), bias=False, trainable=False).seen_as(batch, head, seq, each)
        k = linear(m["k"], x, each, bias=False, trainable=False)
        k = norm(m["k_norm"], k, "layer", trainable=False)
        q, k = (m.record("rotate", t, *rotation) for t in (q, k)) if rotation else (q, k)
        k = m.record("append", k, to=axes(batch, past, each)) if work.keeps_cache else k.seen_as(batch, past, each)
        scores = m.record("contract", q, k, to=axes(batch, head, seq, past), over=(each,), name="index_scores")
        scores = m.record("relu", m.record("scale", scores))
        weights = m.record("scale", linear(m["weights"], x, head, bias=False, trainable=False))
        summed = m.record("contract", weights, scores, to=axes(batch, seq, past), over=(head,))
        summed = m.record("mask", summed, mask) if mask else summed
        m.record("choose", summed, to=axes(batch, seq, self._chosen(past)), name="chosen", note="of positions")
        return m.ops[-1].beside["indices"]

    def _chosen(self, past: Dim) -> Dim:
        """No more than there are."""
        return Dim("chosen", Count.named("top", self.top) if self.top < past.size else past.size)
