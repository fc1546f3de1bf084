"""Lightning attention: linear attention with a fixed decay rate for each head (MiniMax-01, arXiv:2501.08313).

    S_t = λ S_{t-1} + k_t v_tᵀ        o_t = S_tᵀ q_t

A sequence is computed in chunks: within one every position looks back at the others, between chunks the matrix S is
handed on; the last chunk may be shorter. A decode step updates the matrix alone. One kernel computes all of it: for
the backward pass it keeps queries, keys and values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from archcalc.core.count import total
from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.attention import SELF
from archcalc.layers.dims import heads_of
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.layers.one_kernel import kernel
from archcalc.spec.workload import Workload
from archcalc.styles.activations import activated


@dataclass(frozen=True)
class Lightning:
    spec_kind: ClassVar[str] = "lightning"
    heads: int
    head_dim: int
    act: str  # on queries, keys and values
    chunk: int

    @property
    def head(self) -> Dim:
        return heads_of(self.heads)

    @property
    def key(self) -> Dim:
        return Dim.of("head_dim", self.head_dim)

    @property
    def value(self) -> Dim:
        return Dim.of("v_dim", self.head_dim)

    def run(self, m: Module, x: Tensor, work: Workload) -> Tensor:
        batch, seq, d_model = x.dims
        q, k, v = (
            activated(m, linear(m[name], x, (self.head, wide), bias=False, role=SELF[name]), self.act)
            for name, wide in (("q", self.key), ("k", self.key), ("v", self.value))
        )
        inside = kernel(m, work, "Lightning Attention's, as in flash-linear-attention")
        look_up = self._one_step if work.decodes else self._in_chunks
        found, state = look_up(inside, q, k, v, batch, seq)
        if work.keeps_cache:
            inside.record("append", state)
        joined = m.record("view", found, to=axes(batch, seq, (self.head, self.value)), name="concat")
        normed = norm(m["norm"], joined, "rms")
        gate = m.record("sigmoid", linear(m["gate"], x, (self.head, self.value), bias=False, role=Role.ATTENTION_GATE))
        return linear(m["out"], m.record("multiply", normed, gate), d_model, bias=False, role=Role.ATTENTION_OUT)

    def _one_step(self, m: Module, q: Tensor, k: Tensor, v: Tensor, batch: Dim, seq: Dim) -> tuple[Tensor, Tensor]:
        state = Tensor(axes(batch, self.head, self.key, self.value), "cache")
        q, k = (one.seen_as(batch, self.head, seq, self.key) for one in (q, k))
        v = v.seen_as(batch, self.head, seq, self.value)
        written = m.record("contract", k, v, to=state.axes, over=(seq,))
        state = m.record("add", m.record("scale", state), written)
        return m.record("contract", q, state, to=v.axes, over=(self.key,)), state

    def _in_chunks(self, m: Module, q: Tensor, k: Tensor, v: Tensor, batch: Dim, seq: Dim) -> tuple[Tensor, Tensor]:
        """First the state after every chunk, then the outputs of its positions: of whole chunks, and of the rest."""
        whole, rest = divmod(int(seq.size), self.chunk)
        pieces = [
            Piece(self, Dim.of(name, length), Dim.of("other", length), (batch, self.head, Dim.of(f"{name}s", number)))
            for name, length, number in (("chunk", self.chunk, whole), ("rest", rest, 1))
            if length and number
        ]
        state = m.record("zeros", to=axes(batch, self.head, self.key, self.value))
        for piece in pieces:
            state = piece.handed_on(m, state, piece.left(m, k, v))
        every = Dim("states", total([piece.each[-1].size for piece in pieces]) + 1)
        states = m.record("concat", state, to=axes(batch, self.head, every, self.key, self.value), name="states")
        found = [piece.looked_up(m, q, k, v, states) for piece in pieces]
        return m.record("concat", *found, to=axes(batch, seq, self.head, self.value)), state


@dataclass(frozen=True)
class Piece:
    """Chunks of one length, computed in parallel: `each` is of a sequence, a head and a chunk."""

    layer: Lightning
    place: Dim
    other: Dim
    each: tuple[Dim, Dim, Dim]

    def left(self, m: Module, k: Tensor, v: Tensor) -> Tensor:
        """What each chunk adds to the state, decayed to the end of the chunk."""
        k, v = k.seen_as(*self.each, self.other, self.layer.key), v.seen_as(*self.each, self.other, self.layer.value)
        aged = m.record("multiply", k, self._decays(m, self.other))
        return m.record("contract", aged, v, to=axes(*self.each, self.layer.key, self.layer.value), over=(self.other,))

    def handed_on(self, m: Module, state: Tensor, left: Tensor) -> Tensor:
        """The state after these chunks: decayed and added to from one to the next."""
        step = m.section(self.place.name)
        step.calls = self.each[-1].size
        after = step.record("add", step.record("multiply", state, self._decays(step)), left.seen_as(*state.dims))
        step.carries.append((state, after))
        return after

    def looked_up(self, m: Module, q: Tensor, k: Tensor, v: Tensor, states: Tensor) -> Tensor:
        """Causal attention within a chunk, plus the contribution of the state before it."""
        q, k = q.seen_as(*self.each, self.place, self.layer.key), k.seen_as(*self.each, self.other, self.layer.key)
        v, states = (
            v.seen_as(*self.each, self.other, self.layer.value),
            states.seen_as(*self.each, self.layer.key, self.layer.value),
        )
        scores = m.record("contract", q, k, to=axes(*self.each, self.place, self.other), over=(self.layer.key,))
        scores = m.record("multiply", scores, self._decays(m, self.place, self.other))
        within = m.record("contract", scores, v, to=axes(*self.each, self.place, self.layer.value), over=(self.other,))
        aged = m.record("multiply", q, self._decays(m, self.place))
        before = m.record("contract", aged, states, to=within.axes, over=(self.layer.key,))
        return m.record("add", before, within)

    def _decays(self, m: Module, *dims: Dim) -> Tensor:
        """The decay factor after that many positions, for each head."""
        return m.record("constant", to=axes(self.layer.head, *dims))
