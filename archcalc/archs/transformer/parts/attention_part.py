"""Attention parts with every value filled in: softmax attention and kernel (linear) attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from archcalc.archs.transformer.parts.part import Context, Part
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.core.roles import Role
from archcalc.core.small import TWICE, like
from archcalc.layers.attention import Attention as SoftmaxAttention
from archcalc.layers.attention import Inputs, Queries, Rotation, ScoreBias, ValueVectors, looked_at
from archcalc.layers.attention_core import INPUT
from archcalc.layers.dims import heads_of
from archcalc.layers.disentangled import Disentangled, distance_table
from archcalc.layers.embedding import relative_bias
from archcalc.layers.kernel import KernelAttention
from archcalc.layers.shaw import relative_vectors, with_relative
from archcalc.layers.transformer_xl import CONTENT, POSITION, head_bias, position_scores, with_bias

if TYPE_CHECKING:
    from archcalc.archs.transformer.nodes import Position
    from archcalc.layers.attention_mask import Sight
    from archcalc.layers.patches import Patches
    from archcalc.layers.qk_norm import QKNorm
    from archcalc.layers.routed_heads import RoutedHeads


@dataclass(frozen=True)
class AttentionPart(Part):
    spec_kind: ClassVar[str] = "attention"
    heads: int
    kv_heads: int
    head_dim: int
    bias: frozenset[str]  # of q k v o
    positions: tuple[Position, ...]
    rotated: int  # width of each head that RoPE turns
    feature: str
    cross: bool
    sight: Sight
    weights_dropout: float
    qk_norm: QKNorm | None = None
    sinks: bool = False
    gate: str = ""
    v_dim: int | None = None
    out_norm: str = ""
    softcap: bool = False
    memory: int | None = None
    global_qkv: bool = False
    routed: RoutedHeads | None = None
    softmax: str = INPUT
    patches: Patches | None = None  # of the image, whose rows and columns relative positions may tell apart

    @property
    def causal(self) -> bool:
        return self.sight.causal

    def run(self, m: Module, x: Tensor, context: Context) -> Tensor:
        self.describe(m, "cross-attention" if self.cross else self.sight.called, self.sight.about)
        layer = self._softmax if self.feature == "softmax" else self._kernel
        if self.global_qkv:
            layer.keep_global(m, x.dims[-1])
        return layer.run(m, x, self._inputs(x, context))

    @property
    def _softmax(self) -> SoftmaxAttention:
        return SoftmaxAttention(
            *self._sizes,
            dropout=self.weights_dropout,
            sight=self.sight,
            qk_norm=self.qk_norm,
            gate=self.gate,
            out_norm=self.out_norm,
            sinks=self.sinks,
            softcap=self.softcap,
            alibi=self.position("alibi") is not None,
            routed=self.routed,
            softmax=self.softmax,
        )

    @property
    def _kernel(self) -> KernelAttention:
        return KernelAttention(*self._sizes, feature=self.feature, causal=self.causal)

    @property
    def _sizes(self) -> tuple[int, int, int, frozenset[str], int | None, bool]:
        return self.heads, self.kv_heads, self.head_dim, self.bias, self.v_dim, self.cross

    def _inputs(self, x: Tensor, context: Context) -> Inputs:
        return Inputs(
            context.work,
            memory=self._memory(x, context) if self.cross else None,
            rotation=self._rotation(x, context),
            mask=context.mask(x, self.sight),
            score_bias=self._score_bias(x, context),
            value_vectors=self._value_vectors(x, context),
            content_queries=self._content_queries(context),
        )

    def _memory(self, x: Tensor, context: Context) -> Tensor:
        """The encoder's output, or another model's output, assumed to be as long as the sequence."""
        if context.memory is not None:
            return context.memory
        batch, seq, d_model = x.dims
        assert self.memory
        number = context.work.context + 1 if context.work.decodes else seq.size
        length = Dim.of("memory_seq", number, positions=Positions.PAST)
        width = d_model if self.memory == d_model.size else Dim.of("memory", self.memory)
        return context.constant(f"memory of {self.memory}", "act", batch, length, width)

    def made_small(self, original: AttentionPart) -> AttentionPart:
        """In a small model, GQA groups, the value width and the RoPE fraction are preserved."""
        groups = {original.heads: self.heads, 1: 1}
        kv_heads = groups.get(original.kv_heads, TWICE)
        rotates = {0: 0, original.head_dim: self.head_dim}
        return replace(
            self,
            kv_heads=kv_heads,
            heads=kv_heads * self.routed.top if self.routed else self.heads,
            rotated=rotates.get(original.rotated, self.head_dim // 2),
            qk_norm=self._small_norm(original),
            v_dim=self.v_dim and like(self.v_dim, self.head_dim, original.v_dim or 0, original.head_dim),
        )

    def _small_norm(self, original: AttentionPart) -> QKNorm | None:
        """The width of the normalised vector, unless the original did not fit either."""
        norm = original.qk_norm
        if not self.qk_norm or not norm or not norm.fits(original.heads, original.kv_heads, original.head_dim):
            return self.qk_norm
        return replace(self.qk_norm, width=())

    def position(self, kind: str) -> Position | None:
        return next((position for position in self.positions if position.kind == kind), None)

    def prepare(self, stack: Module, x: Tensor, context: Context) -> Tensor | None:
        """T5 has one relative bias table for the whole stack, DeBERTa one embedding per relative position,
        Transformer-XL one pair of biases."""
        if (segments := self.position("transformer-xl")) and segments.shared:
            self._share_biases(stack["position"], context)
        if disentangled := self.position("disentangled"):
            return context.once("distances", lambda: self._distances(stack, x, disentangled))
        if (rope := self.position("rope")) and rope.stored and "weight" not in stack["position"].params:
            rows, width = Dim.of("positions", rope.length or 0), Dim.of("rotated", self.rotated)
            stack["position"].title = stack["position"].term = "angles"
            table = stack["position"].param("weight", rows, width, role=Role.POSITION_TABLE, trainable=False)
            stack["position"].record("lookup", table, to=axes(x.dims[1], width), select=(rows,))
        relative = self._relative("stack")
        return self._relative_bias(stack, x, context, relative) if relative else None

    def _share_biases(self, m: Module, context: Context) -> None:
        """u and v of Transformer-XL, for all blocks of the stack."""
        m.title = m.term = "relative positions"
        for name in (CONTENT, POSITION):
            context.once(name, partial(self._head_bias, m, name))

    def _distances(self, stack: Module, x: Tensor, position: Position) -> Tensor:
        assert position.buckets
        m, is_read = stack["position"], bool(position.terms)
        return distance_table(m, x.dims[-1], position.buckets, normed=position.norm, read=is_read)

    def _relative(self, per: str) -> Position | None:
        found = (position for position in self.positions if position.kind == "relative" and position.per == per)
        return next(found, None)

    def _rotation(self, x: Tensor, context: Context) -> Rotation | None:
        """Cosines and sines, one row for each position."""
        rope = self.position("rope")
        if not rope:
            return None
        width = Dim.of("rotated", self.rotated)
        names = [f"{name} {rope.theta} {self.rotated}" for name in ("cosines", "sines")]
        cosines, sines = (context.constant(name, "act", x.dims[1], width) for name in names)
        return cosines, sines

    def _score_bias(self, x: Tensor, context: Context) -> ScoreBias | None:
        """The bias that position encodings add to the scores: fixed for ALiBi, learned for relative positions."""
        if self.position("alibi"):
            return None if context.work.attention == "flash" else lambda m, q, k: self._alibi(m, x, context)
        if (disentangled := self.position("disentangled")) and disentangled.terms:
            return lambda m, q, k: self._disentangled(m, q, k, context)
        if self.position("shaw"):
            return lambda m, q, k: self._relative_scores(m, q, context, x)
        if self.position("transformer-xl"):
            return lambda m, q, k: self._position_scores(m, q, context, x)
        if self.cross and context.work.style.zero_bias:
            return lambda m, q, k: self._zeros(q, k, context)
        if not self.position("relative"):
            return None
        return lambda m, q, k: self._relative_biases(m, x, context)

    def _distances_of_pairs(self, x: Tensor, distance: int, context: Context) -> Tensor:
        past = looked_at(x, x, context.work, self.sight)
        return context.constant(f"distances up to {distance}", "index", x.dims[1], past)

    def _relative_scores(self, m: Module, q: Tensor, context: Context, x: Tensor) -> Tensor:
        """Queries with a vector for each clipped distance (Shaw)."""
        shaw = self.position("shaw")
        assert shaw
        assert shaw.distance
        distances = self._distances_of_pairs(x, shaw.distance, context)
        vectors = relative_vectors(m["relative_keys"], distances, shaw.distance, q.dims[-1])
        return m.record("scale", with_relative(m, q, vectors, q.dims[-1]))

    def _value_vectors(self, x: Tensor, context: Context) -> ValueVectors | None:
        shaw = self.position("shaw")
        if not (shaw and shaw.distance and shaw.values):
            return None
        distances, distance = self._distances_of_pairs(x, shaw.distance, context), shaw.distance
        return lambda m, width: relative_vectors(m["relative_values"], distances, distance, width)

    def _position_scores(self, m: Module, q: Tensor, context: Context, x: Tensor) -> Tensor:
        """Queries and v with all distances, from the whole memory and segment to none (Transformer-XL)."""
        past = looked_at(x, x, context.work, self.sight)
        distances = Dim("distances", past.size)
        encodings = context.constant("sinusoids of distances", "act", distances, x.dims[-1])
        return position_scores(m, self._with_bias(m, q, POSITION, context), encodings, past)

    def _content_queries(self, context: Context) -> Queries | None:
        if not self.position("transformer-xl"):
            return None
        return lambda m, q: self._with_bias(m, q, CONTENT, context)

    def _with_bias(self, m: Module, q: Tensor, name: str, context: Context) -> Tensor:
        """Queries and u or v: the stack's, or the block's own."""
        shared = context.shared.get((name, ()))
        return with_bias(m, q, name, shared or self._head_bias(m, name))

    def _head_bias(self, m: Module, name: str) -> Tensor:
        return head_bias(m, name, heads_of(self.heads), Dim.of("head_dim", self.head_dim))

    def _relative_biases(self, m: Module, x: Tensor, context: Context) -> Tensor:
        """The stack's table, the block's own, or the sum of both."""
        prepared, own = context.prepared.get(self.name), self._relative("block")
        if own is None:
            assert prepared
            return prepared
        bias = self._relative_bias(m, x, context, own)
        return m.record("add", bias, prepared) if prepared else bias

    def _disentangled(self, m: Module, q: Tensor, k: Tensor, context: Context) -> Tensor:
        table, position = context.prepared[self.name], self.position("disentangled")
        assert table and position
        distances = context.constant("distances", "index", q.dims[2], k.dims[2])
        layer = Disentangled(position.terms, position.project, self.dropout)
        return layer.run(m, q, k, table, distances, context.work)

    def _alibi(self, m: Module, x: Tensor, context: Context) -> Tensor:
        """Computed from the distance, with a fixed slope for each head: nothing is learned."""
        shape = heads_of(self.heads), x.dims[1], looked_at(x, x, context.work, self.sight)
        m.show("alibi", *shape, note="−slope × distance, on scores")
        return context.constant(f"alibi of {self.heads} heads", "act", *shape)

    def _zeros(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        """A bias of zeros; where blocks are recomputed it wants a gradient (transformers, T5Attention.forward)."""
        shape, is_leaf = axes(*q.dims[1:3], k.dims[2]), context.work.style.is_recomputed
        return context.once("a bias of zeros", lambda: Tensor(shape, "act", grad=is_leaf), shape)

    def _relative_bias(self, m: Module, x: Tensor, context: Context, relative: Position) -> Tensor:
        rows = relative.buckets or (self.patches.differences if self.patches else 0)
        m["position"].title = m["position"].term = "relative positions"
        past = looked_at(x, x, context.work, self.sight)
        distances = context.constant(f"distances in {rows} buckets", "index", x.dims[1], past)
        return relative_bias(m["position"], self.heads, rows, distances)
