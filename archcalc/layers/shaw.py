"""Shaw's relative positions: a vector for each clipped distance, added to keys and to values (Shaw et al. 2018).

    score(i, j) = q_i·(k_j + a_K[i−j]) / √head_dim        output(i) = Σ_j α_ij·(v_j + a_V[i−j])

Distances beyond the clipping distance share a row, so that each table has 2 × distance + 1 rows. All heads share them.
"""

from __future__ import annotations

from archcalc.core.ir import Dim, Module, Role, Tensor, axes


def relative_vectors(m: Module, distances: Tensor, distance: int, width: Dim) -> Tensor:
    """(queries, keys, width): the row of every pair's distance."""
    rows = Dim.of("distances", 2 * distance + 1)
    table = m.param("weight", rows, width, role=Role.POSITION_TABLE)
    return m.record("lookup", distances, table, to=axes(*distances.dims, width), select=(rows,))


def with_relative(m: Module, x: Tensor, vectors: Tensor, over: Dim) -> Tensor:
    """Queries with the vectors of keys, or weights with those of values: a product for each query position.

    The position comes first, so x is copied: batch and heads are then the rows of one matrix.
    """
    batch, head, seq, _ = x.dims
    rows = m.record("copy", x, to=axes(seq, (batch, head), over))
    (out,) = (dim for dim in vectors.dims if dim not in (seq, over))
    found = m.record("contract", rows, vectors, to=axes(seq, (batch, head), out), over=(over,))
    return found.seen_as(batch, head, seq, out)
