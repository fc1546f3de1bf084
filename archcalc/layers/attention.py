"""Multi-head attention; with fewer key-value heads it is grouped-query, with one multi-query attention.

With a cache, keys and values are kept for the tokens to come. The computation on queries, keys and values is
`attention_core`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Self

from archcalc.core.count import Count, total
from archcalc.core.ir import Axis, Dim, Module, Part, Region, Role, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.core.small import TWICE, like
from archcalc.core.style import Projection
from archcalc.layers.attention_core import INPUT, Core
from archcalc.layers.attention_inputs import Inputs, KeysAndValues, Rotation
from archcalc.layers.attention_mask import EVERYTHING, Sight
from archcalc.layers.dims import heads_of, kv_heads_of
from archcalc.layers.linear import each_by_itself, linear, one_each
from archcalc.layers.norm import norm
from archcalc.layers.transformer_xl import with_memory
from archcalc.layers.windowed import in_windows
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from archcalc.layers.indexer import BlockIndexer
    from archcalc.layers.qk_norm import QKNorm
    from archcalc.layers.routed_heads import RoutedHeads

Biased = frozenset[str]  # which of q, k, v, o have a bias
Made = KeysAndValues | None  # nothing where those of an earlier block are read
Projected = tuple[Tensor, Made, Tensor | None, Tensor | None]

SELF = {"q": Role.ATTENTION_Q, "k": Role.ATTENTION_K, "v": Role.ATTENTION_V}
CROSS = {"q": Role.CROSS_Q, "k": Role.CROSS_K, "v": Role.CROSS_V}

PROJECTED = "output projection"
SOFTMAX = "softmax"
FEATURES = (SOFTMAX, "poly2", "elu", "relu")  # or the feature map of a kernel (`archcalc.layers.kernel`)
BY_SOFTMAX = "softmax weights · v"
_TWO = Dim.of("query_and_gate", 2, copies=True)


@dataclass(frozen=True)
class Heads:
    """The sizes of attention's projections."""

    heads: int
    kv_heads: int
    head_dim: int
    bias: Biased
    v_dim: int | None = None  # as wide as keys, unless given
    cross: bool = False  # looks at what an encoder gives
    sight: Sight = EVERYTHING
    feature: str = SOFTMAX  # or the feature map of a kernel
    makes: str = "qkv"  # what it projects: without v, keys are the values too; q alone reads an earlier block's
    lookup: ClassVar[str] = BY_SOFTMAX  # what a head's output is

    def with_groups(self, original: Self) -> Self:
        """In a small model: as many heads to a key-value head, values as wide as keys where they were."""
        kv_heads = {original.heads: self.heads, 1: 1}.get(original.kv_heads, TWICE)
        v_dim = self.v_dim and like(self.v_dim, self.head_dim, original.v_dim or 0, original.head_dim)
        return replace(self, kv_heads=kv_heads, v_dim=v_dim)

    @property
    def outs(self) -> dict[str, Axis]:
        """Queries, keys and values: (batch, positions, (heads, width)) each."""
        head, key = heads_of(self.heads), Dim.of("head_dim", self.head_dim)
        kv_head = kv_heads_of(self.kv_heads) if self.kv_heads != self.heads else head
        value = Dim.of("v_dim", self.v_dim) if self.v_dim not in (None, self.head_dim) else key
        return {"q": (head, key), "k": (kv_head, key), "v": (kv_head, value)}

    @property
    def projections(self) -> tuple[Projection, ...]:
        """Queries, keys and values, those of them that it makes."""
        outs, roles = self.outs, CROSS if self.cross else SELF
        return tuple(Projection(name, outs[name], name in self.bias, roles[name]) for name in self.makes)

    def keep_global(self, m: Module, d_model: Dim) -> None:
        """Longformer's second projections, for tokens with global attention: stored, and unused if there are none."""
        for name, out, is_biased, _ in self.projections:
            unread = m[f"{name}_global"]
            unread.words.title = unread.words.term = f"{name} of global tokens (stored, never used)"
            unread.param("weight", out, d_model, role=Role.LINEAR)
            if is_biased:
                unread.param("bias", out, role=Role.BIAS)

    def answer(self, m: Module, found: Tensor, d_model: Dim) -> Tensor:
        """The output projection."""
        m["out"].words.about = PROJECTED
        role = Role.CROSS_OUT if self.cross else Role.ATTENTION_OUT
        return linear(m["out"], found, d_model, bias="o" in self.bias, role=role)

    def describe(self, m: Module, d_model: Dim) -> None:
        """Parameter counts as in textbooks: all heads together, and one head's part of each projection."""
        parts = [
            Part(
                f"{name}_head",
                total([d_model.size * width.size, *([width.size] if is_biased else [])]),
                shape=(int(width.size), int(d_model.size)),
                of=(name,),
                copies=number.size,
            )
            for name, (number, width), is_biased, _ in self.projections
        ]
        if len(parts) == 1:  # an earlier block's keys and values are no part of it
            m.words.parts += parts
            return
        if m.style.qkv and "qkv" in {child.name for child in m.children}:  # one matrix for all three
            together = [part.elements * part.copies for part in parts]
        else:
            together = [total([p.elements for p in m[name].params.values()]) for part in parts for name in part.of]
        m.words.parts += [Part("heads", total(together), of=tuple(self.makes)), *parts]


@dataclass(frozen=True)
class Attention(Heads):
    """Softmax attention over x itself, or over the encoder's output."""

    weights_dropout: float = 0  # on the weights that softmax gives
    qk_norm: QKNorm | None = None
    v_norm: QKNorm | None = None
    gate: str = ""  # on what was looked up; made with the queries (query), by a projection of its own, or one a head
    out_norm: str = ""  # in front of the output projection
    sinks: bool = False  # a score for each head that no position has: softmax may look at nothing
    softcap: bool = False
    routed: RoutedHeads | None = None  # queries made by experts
    indexer: BlockIndexer | None = None  # what chooses the blocks of keys that are looked at
    softmax: str = INPUT

    def made_small(self, original: Attention) -> Attention:
        """In a small model, groups of heads and the width of values are preserved."""
        small = self.with_groups(original)
        heads = small.kv_heads * self.routed.top if self.routed else self.heads
        norm = original.qk_norm
        if self.qk_norm and norm and norm.fits(original.heads, original.kv_heads, original.head_dim):
            return replace(small, heads=heads, qk_norm=replace(self.qk_norm, width=()))
        return replace(small, heads=heads)

    def run(self, m: Module, x: Tensor, inputs: Inputs) -> Tensor:
        memory = with_memory(m, x, self.sight) if self.sight.memory else inputs.memory or x
        q, made, gate, expert_weights = self._projected(m, x, memory, inputs)
        q, made = self._normed(m, q, made)
        q = _by_head(q)
        if inputs.rotation:
            q = rotated(m, q, "q", inputs.rotation)
        k, v = inputs.earlier or self._kept(m, made, looked_at(x, memory, inputs.work, self.sight), inputs)
        if inputs.hand_on:
            inputs.hand_on((k, v))
        value = self.outs["v"][1]
        core = self._core(m, q, k, value, inputs)
        if self.indexer:
            core = _sparse(m, core, self.indexer, x, k.dims[2], inputs)
        if inputs.content_queries:
            q = inputs.content_queries(m, q)
        looked_up = in_windows(core, (q, k, v), inputs.windows) if inputs.windows else core.run(q, k, v)
        found = concatenated(m, looked_up, value, self.lookup)
        if gate:
            found = m.record("multiply", found, m.record("sigmoid", gate))
        if self.out_norm:
            found = norm(m["out_norm"], found, self.out_norm)
        if self.routed and expert_weights:
            return self.routed.answers(m, found, expert_weights, x.dims[-1], bias="o" in self.bias)
        if self.gate != "query":
            self.describe(m, x.dims[-1])
        return self.answer(m, found, x.dims[-1])

    def _normed(self, m: Module, q: Tensor, made: Made) -> tuple[Tensor, Made]:
        """Queries, keys and values, each by the norm that it has."""
        (head, key), (kv_head, _), (_, value) = self.outs.values()
        if self.qk_norm:
            q = self.qk_norm.run(m["q_norm"], q, head, key)
        if self.qk_norm and made:
            made = self.qk_norm.run(m["k_norm"], made[0], kv_head, key), made[1]
        if self.v_norm and made:
            made = made[0], self.v_norm.run(m["v_norm"], made[1], kv_head, value)
        return q, made

    def _kept(self, m: Module, made: Made, past: Dim, inputs: Inputs) -> KeysAndValues:
        """Keys and values by head, keys rotated, along all positions that are looked at."""
        assert made
        k, v = map(_by_head, made)
        if inputs.rotation:
            k = rotated(m, k, "k", inputs.rotation)
        k = kept(m, k, past, inputs.work, self.sight, "append")
        return k, kept(m, v, past, inputs.work, self.sight, "append_values")

    def _projected(self, m: Module, x: Tensor, memory: Tensor, inputs: Inputs) -> Projected:
        """Queries; keys and values unless an earlier block's are read; a gate if there is one, router weights of query
        experts."""
        if inputs.work.decodes and inputs.memory:
            m["k"].calls = m["v"].calls = Count(0)  # of the encoder's output, cached before the first token
        expert_weights = gate = None
        first, *others = self.projections
        head, key = first.out
        is_usual = not (self.routed or self.gate == "query" or inputs.reads_projections or self.makes != "qkv")
        made: Made
        if m.style.qkv and memory is x and is_usual:
            q, k, v = m.style.qkv(m, x, (first, *others))
            made = k, v
        else:
            if self.routed:
                q, expert_weights = self.routed.queries(m, x, first.out)
            elif self.gate == "query":  # a copy each, since queries and gate are interleaved by head
                both = linear(m["q"], x, (head, _TWO, key), bias=first.bias, role=first.role)
                q, gate = (m.record("copy", both, to=(*both.axes[:2], first.out)) for _ in range(2))
            else:
                q = linear(m["q"], x, first.out, bias=first.bias, role=first.role)
            made = self._keys_and_values(m, memory, tuple(others))
        if self.gate in ("own", "head"):  # one number per output channel, or one per head
            out = {"own": (head, self.outs["v"][1]), "head": (head,)}[self.gate]
            gate = linear(m["gate"], x, out, bias=False, role=Role.ATTENTION_GATE)
        return q, made, gate, expert_weights

    def _keys_and_values(self, m: Module, memory: Tensor, others: tuple[Projection, ...]) -> Made:
        """Of what is looked at; one projection where keys are the values too."""
        if len(others) == 2:
            k, v = (m.style.kv or each_by_itself)(m, memory, others)
            return k, v
        both = tuple(linear(m[one.name], memory, one.out, bias=one.bias, role=one.role) for one in others)
        return (both[0], both[0]) if both else None

    def _core(self, m: Module, q: Tensor, k: Tensor, value: Dim, inputs: Inputs) -> Core:
        bias = inputs.score_bias(m, q, k) if inputs.score_bias else None
        vectors = inputs.value_vectors(m, value) if inputs.value_vectors else None
        return Core(
            m.section(Region.CORE),
            inputs.work,
            inputs.mask,
            bias,
            self.weights_dropout,
            self.sight,
            softcap=self.softcap,
            alibi=inputs.alibi,
            sinks=one_each(m, "sinks", q.dims[1]) if self.sinks else None,
            softmax=self.softmax,
            value_vectors=vectors,
        )


def _by_head(x: Tensor) -> Tensor:
    batch, seq, head, each = x.dims
    return x.seen_as(batch, head, seq, each)


def _sparse(m: Module, core: Core, indexer: BlockIndexer, x: Tensor, past: Dim, inputs: Inputs) -> Core:
    """A sparse kernel reads the selected blocks, eager attention masks the others."""
    chosen = indexer.run(m["indexer"], x, past, inputs)
    if inputs.work.attention == "flash" and not inputs.work.decodes:
        return core._replace(chosen=chosen)
    return core._replace(mask=m.record("hide", chosen, to=axes(*x.dims[:2], past)))


def concatenated(m: Module, found: Tensor, value: Dim, lookup: str = BY_SOFTMAX) -> Tensor:
    """(batch, heads, positions, width) as (batch, positions, heads · width)."""
    batch, head, seq, _ = found.dims
    note = f"{lookup}, {head.size} heads"
    m.record("show", to=axes(batch, seq, value), name="head", title="each head's output", note=note)
    return m.record("view", found, to=axes(batch, seq, (head, value)), name="concat", title="heads concatenated")


def looked_at(x: Tensor, memory: Tensor, work: Workload | None = None, sight: Sight = EVERYTHING) -> Dim:
    """Keys get a separate sequence axis, even in self-attention, appended to the cached positions."""
    seq = memory.dims[1]
    if seq.name != x.dims[1].name:
        return seq
    if work and work.decodes and not sight.memory:
        return sight.kept(Dim.of(f"kv_{seq.name}", work.positions, positions=Positions.PAST))
    return sight.past(seq)


def kept(m: Module, t: Tensor, past: Dim, work: Workload, sight: Sight, kind: str) -> Tensor:
    """Keys or values along `past`, stored in the KV cache if there is one by that kind of op: all positions, or a
    window. Where a memory of hidden states is kept, they are computed from that each time."""
    batch, head, _, each = t.dims
    if not work.keeps_cache or sight.memory:
        return t.seen_as(batch, head, past, each)
    cached = m.record(kind, t, to=axes(batch, head, sight.kept(past), each))
    return cached if work.decodes or not (sight.window or sight.chunk) else t.seen_as(batch, head, past, each)


def rotated(m: Module, x: Tensor, name: str, rotation: Rotation) -> Tensor:
    """RoPE on queries or keys; with partial RoPE, on the first numbers of each head."""
    whole, width = x.dims[-1].size, rotation[0].dims[-1].size
    note = f"by position, {width} of {whole}" if width != whole else "by position"
    return m.style.rotary(m, x, *rotation, name=f"{name}_rotated", note=note)
