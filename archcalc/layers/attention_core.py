"""Attention's core: scores, softmax and the sum of values, which need no parameters.

Eager attention stores the scores; flash attention is one kernel. PyTorch's own adds nothing to the scores, does not
bend them, and wants values as wide as keys; FlashAttention's knows ALiBi, sinks, softcaps and two widths. A learned
table of relative positions no kernel adds: that is always computed eagerly.
"""

from __future__ import annotations

from typing import NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.attention_mask import EVERYTHING, Sight
from archcalc.layers.dropout import dropped
from archcalc.spec.workload import Workload

WEIGHTS, SOFTMAX_WEIGHTS = "weights", "softmax weights"
BY_HEAD = 3  # dims of a bias for each head, the same for every sequence: heads, queries and keys
INPUT = "input"  # softmax is computed in the number format of its input
KINDS = {INPUT: "softmax", "fp32": "softmax_fp32"}
BENT = Assumption(
    Topic.ATTENTION,
    "flash attention with ALiBi, sinks or softcaps: FlashAttention's kernel supports them, PyTorch's own does not",
    "flash",
)
UNEVEN = Assumption(
    Topic.ATTENTION,
    "flash attention with values of another width than keys: FlashAttention 3 supports it, PyTorch's own does not",
    "flash",
)
EAGERLY = "eager attention, which stores the scores of all positions"
EAGER = Assumption(
    Topic.ATTENTION,
    "relative positions are added to stored scores: no flash kernel takes a learned table",
    "eager",
)


class Core(NamedTuple):
    """Attention's core: has no parameters, can be recomputed alone, and is one kernel in flash attention."""

    m: Module
    work: Workload
    mask: Tensor | None
    bias: Tensor | None
    dropout: float
    sight: Sight = EVERYTHING
    softcap: bool = False
    alibi: bool = False
    sinks: Tensor | None = None
    chosen: Tensor | None = None  # for a kernel: places of the only positions that are looked at
    softmax: str = INPUT  # the number format that eager attention computes it in
    value_vectors: Tensor | None = None  # added to the value of each pair of positions (Shaw)

    def eager(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """softmax(q·k / √head_dim + bias)·v, with keys and values broadcast to all heads of their group."""
        m, (batch, head, seq, _), past = self.m, q.dims, k.dims[2]
        if k.dims[1] != head:
            k, v = (m.style.repeat(m, t, to=axes(batch, head, past, t.dims[3])) for t in (k, v))
        square, seen = axes(batch, head, seq, past), self.sight.seen(self.mask)
        scores = m.style.scores(m, q, k, to=square, over=q.axes[-1], name="scores", note="q·kᵀ", seen=seen)
        scores = m.record("scale", scores)
        if self.softcap:  # cap · tanh(scores / cap)
            scores = m.record("scale", m.record("tanh", m.record("scale", scores)))
        if self.bias:
            scores = m.record("add", scores, self.bias)
        if self.mask:
            scores = m.style.hide(m, scores, self.mask, sees=self.sight.window)
        factor = m.style.sink_factor(m, scores, self.sinks) if self.sinks and m.style.sink_factor else None
        weights = self.weights(scores, None if factor else self.sinks)
        weights = dropped(m, weights, self.dropout, self.work, "weights")
        found = m.style.weighed(m, weights, v, to=axes(batch, head, seq, v.dims[3]), over=(past,), seen=seen)
        if self.value_vectors:
            found = m.record("add", found, with_relative(m, weights, self.value_vectors, past))
        if factor:
            found = m.record("multiply", found, factor)
        return m.style.by_position(m, found)

    def run(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The attention output: eagerly, or in one flash kernel if the workload has it and one supports this; a kernel
        does not copy the keys and values of a group."""
        m, style, to = self.m, self.m.style, axes(*q.dims[:3], v.dims[3])
        # steps on each score before softmax; sinks are applied after it, from its logsumexp
        steps = {"a softcap on the scores": self.softcap, "ALiBi": self.alibi, "a bias on the scores": self.bias}
        m.words.whole_sequence = next((what for what, is_there in steps.items() if is_there), "")
        is_flash = self.work.attention == "flash"
        if self.bias and is_flash and style.biased and len(self.bias.dims) == BY_HEAD:
            return style.biased(m, (q, k, v), self.bias, self.sight.hides and bool(self.mask), to)
        if self.bias or not is_flash:
            m.words.work_notes.extend([EAGER] if is_flash else [])
            m.words.whole_sequence = m.words.whole_sequence or EAGERLY
            return self.eager(q, k, v)
        seen = self.sight.seen(self.mask)
        needed = {BENT: self.softcap or self.sinks or self.alibi, UNEVEN: k.dims[3].size != v.dims[3].size}
        others = [tensor for tensor in (self.sinks, self.chosen) if tensor]
        if not others and not any(needed.values()):  # PyTorch's own kernel computes it
            sees, mask = self.sight.window, self.mask
            return style.kernel(m, q, k, v, kind="flash", to=to, mask=mask, seen=seen, sees=sees)
        m.words.work_notes.extend(note for note, is_needed in needed.items() if is_needed)
        return style.kernel(m, q, k, v, *others, kind="bent_flash", to=to, seen=seen)

    def weights(self, scores: Tensor, sinks: Tensor | None = None) -> Tensor:
        """Softmax in the format of the scores, or in fp32 and cast back to it. An attention sink is one more score per
        head, whose weight is dropped."""
        m, kind = self.m, KINDS[self.softmax]
        if sinks:
            *rows, past = scores.dims
            wider = axes(*rows, Dim.of("kv_seq_and_sink", past.size + 1))
            found = m.style.softmax(m, m.record("concat", scores, sinks, to=wider), kind=kind)
            note = "without the sink's"
            return m.record("view", found, to=scores.axes, name=WEIGHTS, title=SOFTMAX_WEIGHTS, note=note)
        note = "rows sum to 1, 0 where masked" if self.mask else "rows sum to 1"
        return m.style.softmax(m, scores, kind=kind, name=WEIGHTS, title=SOFTMAX_WEIGHTS, note=note)


# Shaw's relative positions: a vector for each clipped distance, added to keys and to values (Shaw et al. 2018).
#
#     score(i, j) = q_i·(k_j + a_K[i−j]) / √head_dim        output(i) = Σ_j α_ij·(v_j + a_V[i−j])
#
# Distances beyond the clipping distance share a row, so that each table has 2 × distance + 1 rows. All heads share
# them.


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
