"""Attention of a recurrent decoder over the encoder's states: scores, weights and context.

    dot        qᵀk                   no parameters; needs states of one width
    general    qᵀW k                 a matrix between them
    additive   vᵀtanh(W q + U k)     U k is computed once for all steps of the decoder
    concat     vᵀtanh(W [q; k])      the same number of weights, in one matrix, computed at every step
    location   W q                   a row of W for each position; the keys are not read

q is a state of the decoder, k one of the encoder's.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.count import total
from archcalc.core.ir import Dim, Module, Part, Role, Tensor, axes
from archcalc.layers.linear import linear

FORMULAS = {
    "dot": "qᵀk",
    "general": "qᵀW k",
    "additive": "vᵀtanh(W q + U k)",
    "concat": "vᵀtanh(W [q; k])",
    "location": "W q",
}


@dataclass(frozen=True)
class Score:
    """A score and its options."""

    kind: str
    width: int = 0  # of W and U in additive and concat
    bias: bool = False
    normed: bool = False  # v = g·v/‖v‖, and a bias inside the tanh

    def over(self, m: Module, states: Tensor) -> Memory:
        """The part of the encoder's keys that can be computed once, before the decoder starts."""
        if self.kind != "additive":
            return Memory(self, states, states)
        projected = m.child("keys", title="attention keys")
        projected.words.about = "U k, computed once"
        return Memory(self, linear(projected, states, Dim.of("width", self.width), bias=self.bias), states)

    @property
    def formula(self) -> str:
        return FORMULAS[self.kind]

    def scores(self, m: Module, query: Tensor, keys: Tensor) -> Tensor:
        """One score for each encoder position."""
        batch, seq, key = keys.dims
        if self.kind == "location":
            m["scores"].words.about = self.formula
            return linear(m["scores"], query, seq, bias=self.bias)
        if self.kind == "additive":
            m["query"].words.about = "W q"
            return self._weighed(m, m.record("add", keys, linear(m["query"], query, key, bias=self.bias)))
        if self.kind == "concat":
            both = axes(batch, seq, Dim("key+query", key.size + query.dims[-1].size))
            pairs = m.record("concat", keys, query, to=both, name="pairs", note="[q; k] for every k")
            return self._weighed(m, linear(m["pair"], pairs, Dim.of("width", self.width), bias=self.bias))
        is_dot = self.kind == "dot"
        alike = query.seen_as(batch, key) if is_dot else linear(m["query"], query, key, bias=self.bias)
        return m.record("contract", alike, keys, to=axes(batch, seq), over=(key,), name="scores", note=self.formula)

    def _weighed(self, m: Module, inner: Tensor) -> Tensor:
        """vᵀtanh(…)."""
        batch, seq, width = inner.dims
        weighing = m["scores"]
        weighing.words.about = self.formula
        v: Tensor = weighing.param("v", width, role=Role.SCORES)
        if self.normed:
            inner = weighing.record("add", inner, weighing.param("bias", width))
            length = weighing.record("sum", weighing.record("square", v), to=(), over=(width,))
            v = weighing.record("divide", v, length)
            v = weighing.record("multiply", v, weighing.param("gain", Dim.of("gain", 1)))
        inner = weighing.record("tanh", inner, name="tanh", title="tanh layer", note=self.formula[2:])
        scores = weighing.record("contract", inner, v, to=axes(batch, seq), over=(width,))
        return weighing.record("add", scores, weighing.param("offset", Dim.of("offset", 1))) if self.bias else scores


@dataclass(frozen=True)
class Memory:
    """The memory of the decoder: the encoder's states, and the keys projected from them."""

    score: Score
    keys: Tensor
    states: Tensor

    def attend(self, m: Module, query: Tensor) -> Tensor:
        """The context vector: the encoder's states weighted by their attention weights."""
        batch, seq, key = self.states.dims
        query = query.seen_as(batch, Dim("query", query.dims[-1].size))
        scores = self.score.scores(m, query, self.keys)
        weights = m.record("softmax", scores, name="weights", title="softmax weights", note="α = softmax(scores)")
        mixed, note = axes(batch, key), "c = Σ α·k"
        context = m.record("contract", weights, self.states, to=mixed, over=(seq,), name="context", note=note)
        return context.seen_as(batch, Dim("context", key.size))

    def keep(self, m: Module) -> None:
        """The cached encoder states and keys that every decode step reads."""
        for tensor in dict.fromkeys((self.states, self.keys)):
            m.record("append", tensor)


def describe(m: Module, shares: tuple[Module, ...]) -> None:
    """W, U and v together, where they are computed in different places."""
    params = [param.elements for share in shares for child in share.children for param in child.params.values()]
    m.words.parts.append(Part("attention_in_all", total(params)))
