"""Disentangled attention (DeBERTa): separate content and relative-position scores, one vector per relative distance.

    score(i, j) = q_i·k_j + q_i·key(distance) + k_j·query(distance)

The last two are computed for every distance there is, then looked up for the distance of i and j.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.dropout import dropped
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.spec.workload import Workload

TERMS = {"c2p": "k", "p2c": "q"}  # which projection of the distances each term reads


def distance_table(m: Module, d_model: Dim, buckets: int, *, normed: bool, read: bool) -> Tensor:
    """One vector for each distance to either side, for all blocks of a stack. Unless a term reads it, no loss trains
    it: it counts as frozen."""
    m.words.title = m.words.term = "relative positions"
    rows = Dim.of("distances", 2 * buckets)
    table = m.param("weight", rows, d_model, role=Role.POSITION_TABLE, trainable=read)
    found = m.record("view", table, to=table.axes)
    return norm(m["norm"], found, "layer", trainable=read) if normed else found


@dataclass(frozen=True)
class Disentangled:
    """The content-to-position and position-to-content scores; `project`: positions have their own projections."""

    terms: tuple[str, ...]
    project: tuple[str, ...]
    dropout: float

    def run(self, m: Module, q: Tensor, k: Tensor, table: Tensor, distances: Tensor, work: Workload) -> Tensor:
        table = dropped(m, table, self.dropout, work, "positions")
        content = {"c2p": q, "p2c": k}
        scores = [self._scores(m, content[term], table, distances, TERMS[term]) for term in self.terms]
        return scores[0] if len(scores) == 1 else m.record("add", *scores)

    def _scores(self, m: Module, content: Tensor, table: Tensor, distances: Tensor, name: str) -> Tensor:
        """Scores of queries or keys with all relative positions, gathered for each pair of positions."""
        batch, head, _, each = content.dims
        rows = table.dims[0]
        bias = m[name].params.get("bias")
        if name in self.project:  # a projection of its own has a bias if that of the content has one
            projected = linear(m[f"position_{name}"], table, (head, each), bias=bias is not None)
        else:
            weight = m[name].params["weight"]
            projected = m.record("contract", table, weight, to=(table.axes[0], weight.axes[0]), over=table.axes[-1])
            projected = m.record("add", projected, bias) if bias else projected
        by_head = m.record("repeat", projected, to=axes(batch, head, rows, each))
        every = m.record("contract", content, by_head, to=axes(*content.dims[:3], rows), over=(each,))
        found = m.record("pick", every, distances, to=axes(batch, head, *distances.dims), select=(rows,))
        return m.record("scale", found)
