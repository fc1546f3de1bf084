"""An indexer (DeepSeek-V3.2): a small attention that only chooses which positions the large one looks at.

    score = Σ over heads of weight · relu(query · key); of all positions the `top` with the highest scores are chosen

Nothing is learned through a choice: its weights get no gradient from the model's loss, and are counted as frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.ir import Dim, Module, Tensor, axes
from archcalc.layers.linear import linear
from archcalc.workload import Workload

DENSE = "scores of sparse attention are counted for all positions, as transformers computes them before it hides some"
FROZEN = {"bias": False, "trainable": False}


@dataclass(frozen=True)
class Indexer:
    heads: int
    head_dim: int
    top: int

    def run(self, m: Module, x: Tensor, squeezed: Tensor, past: Dim, work: Workload) -> None:
        """Of `squeezed` queries, and of keys that are kept beside what attention keeps."""
        m.work_notes.append(DENSE)
        batch, seq, _ = x.dims
        head, each = Dim.of("index_heads", self.heads, copies=True), Dim.of("index_dim", self.head_dim)
        x, squeezed = (Tensor(tensor.axes) for tensor in (x, squeezed))
        q = linear(m["q"], squeezed, (head, each), **FROZEN).seen_as(batch, head, seq, each)
        k = self._keys(m, linear(m["k"], x, each, **FROZEN), past, work)
        scores = m.record("contract", q, k, to=axes(batch, head, seq, past), over=(each,), name="index_scores")
        weights = linear(m["weights"], x, head, **FROZEN)
        summed = m.record("contract", weights, m.record("relu", scores), to=axes(batch, seq, past), over=(head,))
        m.record("choose", summed, to=axes(batch, seq, Dim.of("chosen", self.top)), name="chosen", note="of positions")

    def _keys(self, m: Module, k: Tensor, past: Dim, work: Workload) -> Tensor:
        batch, _, each = k.dims
        weights = (m["k_norm"].param(name, each, trainable=False) for name in ("weight", "bias"))
        k = m["k_norm"].record("layer_norm", k, *weights)
        if work.keeps_cache:
            return m.record("append", k, to=axes(batch, past, each))
        return k.seen_as(batch, past, each)
