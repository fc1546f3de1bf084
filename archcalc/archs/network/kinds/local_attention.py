"""Attention of a sequence in chunks: `{local_attention: 8, chunk: 12, back: 12}`.

Queries stand chunk by chunk, each beside the keys and values of its own chunk, of some positions before it and some
behind it. Scores have a part for the distance, as Transformer-XL's have: queries with projected sinusoids. Each number
of a head's queries is scaled by a learned factor. This is the attention of the Universal Speech Model and of Gemma's
audio towers (Zhang et al. 2023, arXiv:2303.01037; transformers, Gemma4AudioAttention).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from archcalc.archs.network.layer import SEQUENCES, Place, Shape, Trace, parts
from archcalc.archs.network.memory import need_sequence
from archcalc.archs.network.values import FromZero
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.linear import linear
from archcalc.spec.node import Node, Size, field

WORDS = ("local_attention",)
READS = (SEQUENCES,)
ROLES = {"q": Role.ATTENTION_Q, "k": Role.ATTENTION_K, "v": Role.ATTENTION_V}
PADDED = Assumption(
    Topic.ATTENTION, "attention in chunks is counted as PyTorch computes it: whole chunks, and what is masked in them"
)


class LocalAttentionFields(Node):
    main: ClassVar[str] = "heads"
    heads: Size = field(..., "How many heads it has.", example=8)
    chunk: Size = field(..., "Positions of a chunk.", example=12)
    back: FromZero = field(0, "How many positions before the own one are attended to.", example=12)
    ahead: FromZero = field(0, "How many positions behind the own one are attended to.", example=4)
    softcap: bool = field(False, "Scores are capped: cap · tanh(scores / cap).", example=True)


class Chunks(NamedTuple):
    """Dims of queries and keys by chunks."""

    batch: Dim
    head: Dim
    number: Dim
    chunk: Dim
    seen: Dim
    each: Dim


@dataclass(frozen=True)
class LocalAttention:
    spec_kind: ClassVar[str] = "local_attention"
    heads: int
    width: int
    chunk: int
    back: int
    ahead: int
    softcap: bool

    @property
    def seen(self) -> int:
        """Positions that stand beside a chunk of queries."""
        return self.chunk + self.back + self.ahead

    @property
    def distances(self) -> int:
        """As many as the class has sinusoids: from half of what is seen down to none."""
        return self.seen // 2 + 1

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        m.words.work_notes.append(PADDED)
        x = trace.in_order(m, x)
        dims = self._dims(x)
        q, k, v = (self._projected(m, x, name, dims) for name in ROLES)
        scale = m.record("softplus", m.param("scale", dims.each, role=Role.VECTORS))
        q = self._chunked(m, m.record("multiply", q, scale), dims)
        k, v = (self._windowed(m, each, dims) for each in (k, v))
        found = self._core(m, (q, k, v), self._encodings(m, x, dims), dims)
        joined = m.record("copy", found, to=axes(dims.batch, (dims.number, dims.chunk), (dims.head, dims.each)))
        out = m.record("copy", joined, to=axes(*x.dims[:2], (dims.head, dims.each)))
        return linear(m["out"], out, x.dims[2], bias=False, role=Role.ATTENTION_OUT)

    def _dims(self, x: Tensor) -> Chunks:
        batch, _, (positions,) = parts(x)
        chunks = (positions.size + self.chunk - 1) // self.chunk
        sizes = {"chunks": chunks, "chunk": self.chunk, "chunk_sees": self.seen}
        number, chunk, seen = (Dim.of(name, size) for name, size in sizes.items())
        return Chunks(batch, Dim.of("heads", self.heads), number, chunk, seen, Dim.of("head_dim", self._head_dim))

    @property
    def _head_dim(self) -> int:
        return self.width // self.heads

    def _projected(self, m: Module, x: Tensor, name: str, dims: Chunks) -> Tensor:
        return linear(m[name], x, (dims.head, dims.each), bias=False, role=ROLES[name]).seen_as(
            *x.dims[:2], dims.head, dims.each
        )

    def _chunked(self, m: Module, q: Tensor, dims: Chunks) -> Tensor:
        """Queries, with zeros behind the last where its chunk is not full, heads first."""
        to = axes(dims.head, (dims.batch, dims.number, dims.chunk), dims.each)
        return m.record("copy", m.record("pad", q, to=axes(dims.batch, (dims.number, dims.chunk), *q.dims[2:])), to=to)

    def _windowed(self, m: Module, x: Tensor, dims: Chunks) -> Tensor:
        """Keys or values beside each chunk, with zeros at both ends."""
        longer = Dim.of("padded_positions", self.chunk * (dims.number.size - 1) + self.seen)
        padded = m.record("pad", x, to=axes(dims.batch, longer, *x.dims[2:]))
        return m.record("copy", padded, to=axes(dims.head, dims.batch, dims.number, dims.seen, dims.each))

    def _encodings(self, m: Module, x: Tensor, dims: Chunks) -> Tensor:
        """Projected sinusoids: a vector for each distance and head."""
        distances = Dim.of("distances", self.distances)
        sinusoids = m.record("constant", to=axes(distances, x.dims[2]), note="sinusoids of distances")
        made = linear(m["relative"], sinusoids, (dims.head, dims.each), bias=False, role=Role.LINEAR)
        return made.seen_as(dims.head, distances, dims.each)

    def _core(self, m: Module, three: tuple[Tensor, Tensor, Tensor], encodings: Tensor, dims: Chunks) -> Tensor:
        q, k, v = three
        _, batch, number, seen, each = k.dims
        head, chunk, distances = dims.head, dims.chunk, encodings.dims[1]
        by_chunk = q.seen_as(head, batch, number, chunk, each)
        square = axes(head, batch, number, chunk, seen)
        scores = m.record("contract", by_chunk, k, to=square, over=(each,), name="scores")
        found = m.record("contract", q, encodings, to=axes(head, (batch, number, chunk), distances), over=(each,))
        scores = m.record("add", scores, self._shifted(m, found, dims))
        if self.softcap:
            scores = m.record("scale", m.record("tanh", m.record("scale", scores)))
        mask = m.record("constant", to=axes(number, chunk, seen), role="mask", note="what a position sees")
        weights = m.record("softmax", m.style.hide(m, scores, mask, sees=None), name="weights")
        return m.record("contract", weights, v, to=axes(head, batch, number, chunk, each), over=(seen,))

    def _shifted(self, m: Module, found: Tensor, dims: Chunks) -> Tensor:
        """Each row moved to its place: rows one longer than what is seen, read as if they were not."""
        wider = Dim.of("padded_distances", self.seen + 1)
        padded = m.record("pad", found, to=axes(dims.head, (dims.batch, dims.number, dims.chunk), wider))
        return padded.seen_as(dims.head, dims.batch, dims.number, dims.chunk, dims.seen)


FIELDS = LocalAttentionFields


def read(word: str, fields: LocalAttentionFields, shape: Shape, place: Place) -> tuple[LocalAttention, Shape]:
    need_sequence(word, shape, place)
    if shape.channels % fields.heads or shape.channels % 2:
        fact = f"{shape.channels} features cannot be divided into {fields.heads} heads, and into sines and cosines"
        raise place.wrong(fact, "use a divisor of an even number of features", word)
    said = (fields.chunk, fields.back, fields.ahead, fields.softcap)
    return LocalAttention(fields.heads, shape.channels, *said), shape
