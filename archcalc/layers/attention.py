"""Multi-head attention; with fewer key-value heads it is grouped-query, with one multi-query attention.

Eager attention stores the scores; flash attention is one kernel. PyTorch's own adds nothing to the scores, does not
bend them, and wants values as wide as keys; FlashAttention's knows ALiBi, sinks, softcaps and two widths. A learned
table of relative positions no kernel adds: that is always computed eagerly. With a cache, keys and values are kept for
the tokens to come.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from archcalc.core.count import Count, total
from archcalc.core.ir import Axes, Dim, Module, Part, Seen, Tensor, axes
from archcalc.layers.attention_mask import EVERYTHING, Sight
from archcalc.layers.dropout import dropped
from archcalc.layers.linear import linear, one_each
from archcalc.layers.norm import norm
from archcalc.layers.qk_norm import QKNorm
from archcalc.layers.routed_heads import RoutedHeads
from archcalc.spec.workload import Workload

ScoreBias = Callable[[Module, Tensor, Tensor], Tensor]  # what is added to the scores, given the module, q and k
Biased = frozenset[str]  # which of q, k, v, o have a bias
Rotation = tuple[Tensor, Tensor]  # cosines and sines, one row for each position

INPUT = "input"  # softmax is computed in the number format of its input
BENT = "flash attention with ALiBi, sinks or softcaps: as FlashAttention's kernel has them; PyTorch's own does not"
UNEVEN = "flash attention with values of another width than keys: as FlashAttention 3 has it; PyTorch's own does not"
EAGERLY = "eager attention, which stores the scores of all positions"
EAGER = "relative positions are added to stored scores: no flash kernel takes a learned table"

_TWO = Dim.of("query_and_gate", 2, copies=True)


def attention(
    m: Module,
    x: Tensor,
    memory: Tensor,
    work: Workload,
    *,
    heads: int,
    kv_heads: int,
    head_dim: int,
    bias: Biased,
    rotation: Rotation | None = None,
    mask: Tensor | None = None,
    score_bias: ScoreBias | None = None,
    dropout: float = 0,
    sight: Sight = EVERYTHING,
    qk_norm: QKNorm | None = None,
    gate: str = "",
    v_dim: int | None = None,
    out_norm: str = "",
    sinks: bool = False,
    softcap: bool = False,
    alibi: bool = False,
    routed: RoutedHeads | None = None,
    softmax: str = INPUT,
) -> Tensor:
    """`memory` is what is looked at: x itself, or the encoder's output.

    A `gate` is put on what was looked up. It comes with the queries, from one projection of twice the width (query),
    from a projection of its own (own), or is one number for each head (head). `sinks` are a score for each head that no
    position has: softmax may look at nothing. `out_norm` stands in front of the output projection. `alibi` is for a
    kernel, which computes that bias itself; eagerly it comes as `score_bias`. `routed` heads are those of experts.
    """
    batch, seq, d_model = x.dims
    head, each = Dim.of("heads", heads, copies=True), Dim.of("head_dim", head_dim)
    kv_head = Dim.of("kv_heads", kv_heads, copies=True) if kv_heads != heads else head
    if work.decodes and memory is not x:
        m["k"].calls = m["v"].calls = Count(0)  # of the encoder's output, cached before the first token
    if routed:
        q, weights = routed.queries(m, x, (head, each))
    else:
        q = linear(m["q"], x, (head, _TWO, each) if gate == "query" else (head, each), bias="q" in bias)
    q, opened = _split_in_two(m, q, axes(batch, seq, (head, each))) if gate == "query" else (q, None)
    k = linear(m["k"], memory, (kv_head, each), bias="k" in bias)
    value = each if v_dim in (None, head_dim) else Dim.of("v_dim", v_dim or 0)
    v = linear(m["v"], memory, (kv_head, value), bias="v" in bias)
    if gate in ("own", "head"):
        opened = linear(m["gate"], x, (head, value) if gate == "own" else head, bias=False)
    m.show("head", batch, seq, each, note=f"each of {heads} heads")
    if qk_norm:
        q, k = qk_norm.joined(m["q_norm"], q), qk_norm.joined(m["k_norm"], k)
    if qk_norm:
        q = qk_norm.split(m["q_norm"], q.seen_as(batch, seq, head, each))
        k = qk_norm.split(m["k_norm"], k.seen_as(batch, memory.dims[1], kv_head, each))
    q = q.seen_as(batch, head, seq, each)
    k, v = (t.seen_as(batch, kv_head, memory.dims[1], wide) for t, wide in ((k, each), (v, value)))
    if rotation:
        q, k = rotated(m, q, "q", rotation), rotated(m, k, "k", rotation)
    past = looked_at(x, memory, work, sight)
    k, v = (kept(m, t, past, work, sight) for t in (k, v))
    bias_of_scores = score_bias(m, q, k) if score_bias else None
    core = Core(m.section("core"), work, mask, bias_of_scores, dropout, sight, softcap, alibi, softmax=softmax)
    core = replace(core, sinks=one_each(m, "sinks", head)) if sinks else core
    looked_up = core.flash(q, k, v) if work.attention == "flash" else core.eager(q, k, v)
    concatenated = m.record(
        "view", looked_up, to=axes(batch, seq, (head, value)), name="concat", note="heads concatenated"
    )
    concatenated = m.record("multiply", concatenated, m.record("sigmoid", opened)) if opened else concatenated
    concatenated = norm(m["out_norm"], concatenated, out_norm) if out_norm else concatenated
    if routed:
        return routed.answers(m, concatenated, weights, d_model, bias="o" in bias)
    if gate != "query" and value == each:
        describe_heads(m, head, d_model, each)
    return linear(m["out"], concatenated, d_model, bias="o" in bias)


def keep_global(m: Module, d_model: Dim, heads: int, kv_heads: int, head_dim: int, v_dim: int, bias: Biased) -> None:
    """Longformer's second projections, for tokens that look at all others: kept, where no token does."""
    for name, number, width in (("q", heads, head_dim), ("k", kv_heads, head_dim), ("v", kv_heads, v_dim)):
        kept = m[f"{name}_global"]
        kept.title = kept.term = f"{name} of global tokens (kept, read by nothing)"
        head = Dim.of("heads" if number == heads else "kv_heads", number, copies=True)
        axis = (head, Dim.of("head_dim" if width == head_dim else "v_dim", width))
        kept.param("weight", axis, d_model)
        if name in bias:
            kept.param("bias", axis)


def _split_in_two(m: Module, both: Tensor, each: Axes) -> tuple[Tensor, Tensor]:
    """Queries, and what opens or shuts them: copied apart, as their heads lie between each other."""
    q, gate = (m.record("copy", both, to=each) for _ in range(2))
    return q, gate


@dataclass(frozen=True)
class Core:
    """Attention's core: what needs no parameters, can be recomputed alone, and is one kernel in flash attention."""

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

    def eager(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """softmax(q·k / √head_dim + bias)·v, with keys and values shown to all heads of their group."""
        m, (batch, head, seq, each), past = self.m, q.dims, k.dims[2]
        m.whole_sequence = self._bent or EAGERLY
        if k.dims[1] != head:
            k, v = (m.record("repeat", t, to=axes(batch, head, past, t.dims[3])) for t in (k, v))
        scores = m.record(
            "contract", q, k, to=axes(batch, head, seq, past), over=(each,), name="scores", seen=self.seen
        )
        scores = m.record("scale", scores)
        scores = self._capped(scores) if self.softcap else scores
        scores = m.record("add", scores, self.bias) if self.bias else scores
        scores = m.record("mask", scores, self.mask) if self.mask else scores
        weights = self._beside_sinks(scores) if self.sinks else self.weights(scores)
        weights = dropped(m, weights, self.dropout, self.work)
        return m.record("contract", weights, v, to=axes(batch, head, seq, v.dims[3]), over=(past,), seen=self.seen)

    def flash(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """The same in one kernel, if there is one; it reads keys and values of a group where they are."""
        if self.bias:
            self.m.work_notes.append(EAGER)
            return self.eager(q, k, v)
        self.m.whole_sequence = self._bent
        looked_up = axes(*q.dims[:3], v.dims[3])
        bent, uneven = self.softcap or self.sinks or self.alibi, k.dims[3].size != v.dims[3].size
        if not (bent or uneven or self.chosen):
            return self.m.record("flash", q, k, v, to=looked_up, seen=self.seen)
        self.m.work_notes.extend([*([BENT] if bent else []), *([UNEVEN] if uneven else [])])
        others = [tensor for tensor in (self.sinks, self.chosen) if tensor]
        return self.m.record("bent_flash", q, k, v, *others, to=looked_up, seen=self.seen)

    def weights(self, scores: Tensor) -> Tensor:
        """Softmax in the format of the scores, or in fp32 and cast back to it."""
        return self.m.record("softmax" if self.softmax == INPUT else "softmax_fp32", scores)

    def _capped(self, scores: Tensor) -> Tensor:
        """cap · tanh(scores / cap)."""
        return self.m.record("scale", self.m.record("tanh", self.m.record("scale", scores)))

    def _beside_sinks(self, scores: Tensor) -> Tensor:
        """Softmax with one more score for each head, whose weight is then left out."""
        assert self.sinks
        *rows, past = scores.dims
        wider = axes(*rows, Dim.of("kv_seq_and_sink", past.size + 1))
        weights = self.weights(self.m.record("concat", scores, self.sinks, to=wider))
        return self.m.record("view", weights, to=scores.axes)

    @property
    def _bent(self) -> str:
        """What every score goes through before softmax; sinks are added behind it, from its logsumexp."""
        found = {"a softcap on the scores": self.softcap, "ALiBi": self.alibi, "a bias on the scores": bool(self.bias)}
        return next((what for what, is_there in found.items() if is_there), "")

    @property
    def seen(self) -> Seen | None:
        """Position i sees i + 1 of them: half of the square and half of its diagonal, or less of it in a window."""
        if not (self.mask and self.sight.hides):
            return None
        *_, seq, past = (dim.size for dim in self.mask.dims)
        return self.sight.pairs(seq), seq * past


def looked_at(x: Tensor, memory: Tensor, work: Workload | None = None, sight: Sight = EVERYTHING) -> Dim:
    """Keys are seen along an axis of their own, even where a sequence looks at itself, and behind what is cached."""
    seq = memory.dims[1]
    if seq.name != x.dims[1].name:
        return seq
    if work and work.decodes:
        return Dim(f"kv_{seq.name}", sight.kept(Count.named(f"kv_{seq.name}", work.context + 1)))
    return seq.renamed(f"kv_{seq.name}")


def kept(m: Module, t: Tensor, past: Dim, work: Workload, sight: Sight) -> Tensor:
    """Keys or values along `past`, kept for the tokens to come if there is a cache: all of them, or a window."""
    batch, head, _, each = t.dims
    if not work.keeps_cache:
        return t.seen_as(batch, head, past, each)
    cached = m.record("append", t, to=axes(batch, head, Dim(past.name, sight.kept(past.size)), each))
    return cached if work.decodes or not (sight.window or sight.chunk) else t.seen_as(batch, head, past, each)


def rotated(m: Module, x: Tensor, name: str, rotation: Rotation) -> Tensor:
    """Queries or keys turned by their position, the first of each head's numbers where not all of them are."""
    whole, width = x.dims[-1].size, rotation[0].dims[-1].size
    note = f"by position, {width} of {whole}" if width != whole else "by position"
    return m.record("rotate", x, *rotation, name=f"{name}_rotated", note=note)


def describe_heads(m: Module, head: Dim, d_model: Dim, each: Dim) -> None:
    """The shares a textbook asks for: all heads together, and one head's part of each projection."""
    projections = [m[name] for name in ("q", "k", "v")]
    m.parts.append(Part("heads", total(total(p.elements for p in one.params.values()) for one in projections)))
    for one in projections:
        biased = [each.size] if "bias" in one.params else []
        share = total([d_model.size * each.size, *biased])
        m.parts.append(Part(f"{one.name}_head", share, (int(each.size), int(d_model.size))))
