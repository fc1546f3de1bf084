"""Transformer-XL: a memory of earlier segments, and positions by their distance (Dai et al. 2019).

    score(i, j) = ((q_i + u)·k_j + (q_i + v)·W_kR·R[i−j]) / √head_dim

Keys and values are made of the memory and the segment, joined; no gradient goes back into the memory. R are sinusoids
of all distances that occur, u and v a vector for each head. Products with R are computed for every distance, then
each row is shifted to its place: a zero in front of every row, and the rows read as if they were one longer.
"""

from __future__ import annotations

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Param, Role, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.layers.attention_mask import Sight
from archcalc.layers.linear import linear

KEPT = Assumption(
    Topic.STATE,
    "Transformer-XL: the memory counts as recurrent state, once for each attention that reads it; the authors' PyTorch"
    " code keeps one more, of the last block's output",
)
CONTENT, POSITION = "content_bias", "position_bias"
BIASES = {CONTENT: "u", POSITION: "v"}


def with_memory(m: Module, x: Tensor, sight: Sight) -> Tensor:
    """The memory in front of the segment; the last positions of both are the memory of the next segment."""
    batch, seq, d_model = x.dims
    length = Dim.of("segment_memory", sight.memory, positions=Positions.SEGMENT)
    memory = Tensor(axes(batch, length, d_model), "cache")
    m.record("show", to=memory.axes, name="memory", note="earlier segments, no gradient")
    m.words.memory_notes.append(KEPT)
    m.record("append", x, to=memory.axes)
    return m.record("concat", memory, x, to=axes(batch, sight.past(seq), d_model), name="memory_and_segment")


def head_bias(m: Module, name: str, heads: Dim, width: Dim) -> Param:
    """u or v."""
    m.record("show", to=axes(heads, width), name=name, note=f"{BIASES[name]}, added to queries")
    return m.param(name, heads, width, role=Role.BIAS)


def with_bias(m: Module, q: Tensor, name: str, bias: Tensor) -> Tensor:
    """The queries that meet keys, or those that meet distances."""
    title = {CONTENT: "content queries", POSITION: "position queries"}[name]
    return m.record("add", q, bias, name=f"{name}_queries", title=title, note=f"q + {BIASES[name]}")


def position_scores(m: Module, q: Tensor, encodings: Tensor, past: Dim) -> Tensor:
    """Queries with the key of every distance, each row shifted so that its columns are the positions of keys.

    Heads come first, so q is copied: the queries of all sequences are then the rows of one matrix for each head.
    """
    (batch, head, seq, each), distances = q.dims, encodings.dims[0]
    keys = linear(m["position_k"], encodings, (head, each), bias=False).seen_as(head, distances, each)
    rows = m.record("copy", q, to=axes(head, (batch, seq), each))
    found = m.record("contract", rows, keys, to=axes(head, (batch, seq), distances), over=(each,))
    padded = m.record("pad", found, to=axes(head, batch, seq, Dim("padded_distances", distances.size + 1)))
    shifted = padded.seen_as(batch, head, seq, past)
    return m.record("scale", shifted, name="position_scores", note="(q + v)·(W_kR·R)ᵀ by distance")
