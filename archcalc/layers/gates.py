"""The gates of a recurrent cell, under the convention that the spec names.

    one    W·[h; x] + b: a matrix and a bias for each gate, as on paper; a GRU resets h before the product
    two    W·x + b + U·h + b′: all gates stacked in one W and one U, as in PyTorch and cuDNN; a GRU resets U·h + b′
    keras  as two, but with a single b in Keras' LSTM and SimpleRNN; its GRU (reset_after) has both
    none   as two, without biases

`one` is what a textbook draws; the others are what libraries keep, and what a checkpoint holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from archcalc.core.count import Count, total
from archcalc.core.equations import BEFORE, NOW, Symbol, System, joined
from archcalc.core.ir import Axis, Dim, Module, Part, Role, Tensor, axes
from archcalc.layers.linear import linear

if TYPE_CHECKING:
    from archcalc.layers.recurrent import Cell

NAMES = {  # in the order in which PyTorch stacks them
    "lstm": ("update_gate", "forget_gate", "candidate", "output_gate"),
    "gru": ("reset_gate", "update_gate", "candidate"),
    "rnn": ("state",),
}
NONLINEARITIES = {"candidate": "tanh"}  # all others are sigmoids
PYTORCH_NAMES, KERAS_NAMES = ("weight_ih", "weight_hh"), ("kernel", "recurrent_kernel")
PEEPING = ("update_gate", "forget_gate", "output_gate")  # the gates of an LSTM that may see its cell


@dataclass(frozen=True)
class Gates:
    """The gates of one step of a cell, each computed on first use.

    Under both conventions `sums` are a gate's, before σ or tanh; a peephole connection of a `gate` adds the cell state;
    `candidate_after` is a GRU's candidate, with the reset gate applied to the previous state."""

    m: Module
    cell: Cell
    inputs: tuple[Tensor, ...]  # x, and in some decoders a context beside it
    h: Tensor  # the state before
    equations: System  # what the cell computes, for people to read

    @property
    def batch(self) -> Dim:
        return self.h.dims[0]

    @property
    def hidden(self) -> Dim:
        return Dim.of("hidden", self.cell.hidden)

    def symbol(self, name: str) -> str:
        return self.equations.of(name).left.text


class OnPaper(Gates):
    """One matrix per gate over the concatenated previous state and input. Each gate is a separate module."""

    @cached_property
    def _joined(self) -> Tensor:
        return self._join(self.h, "joined", f"{self.cell.letter}⟨t−1⟩")

    def _join(self, h: Tensor, name: str, symbol: str) -> Tensor:
        dim = _side_by_side((*self.inputs, h))
        note = f"[{'; '.join([symbol, *(each.text for each in symbols(self.inputs))])}]"
        return self.m.record("concat", h, *self.inputs, to=axes(self.batch, dim), name=name, note=note)

    def sums(self, name: str) -> Tensor:
        home = self.m[name] if self.cell.kind != "rnn" else self.m  # an RNN's only sum needs no name
        return linear(home, self._joined, self.hidden, role=Role.CELL)

    def gate(self, name: str, *, sees: Tensor | None = None) -> Tensor:
        m, into = self.m[name], self.sums(name)
        m.words.about = self.symbol(name)
        if self.cell.peephole and sees is not None:
            into = m.record("add", into, m.record("multiply", sees, m.param("peephole", self.hidden)))
        return m.record(NONLINEARITIES.get(name, "sigmoid"), into)

    def candidate_after(self, reset: Tensor) -> Tensor:
        let_through = self.m.record("multiply", reset, self.h)
        joined = self._join(let_through, "joined_after_reset", f"Γr∗{self.cell.letter}⟨t−1⟩")
        m = self.m["candidate"]
        m.words.about = self.symbol("candidate")
        return m.record("tanh", linear(m, joined, self.hidden, role=Role.CELL))


class Stacked(Gates):
    """All gates in two matrices, one for the input and one for the previous state."""

    @property
    def _stack(self) -> Axis:
        return Dim.of("gates", len(NAMES[self.cell.kind]), copies=True), self.hidden

    @cached_property
    def _sums(self) -> tuple[Tensor, Tensor]:
        """W·x and U·h of all gates, stacked."""
        names = KERAS_NAMES if self.cell.biases == "keras" else PYTORCH_NAMES
        x, *beside = self.inputs
        if beside:
            to, note = axes(self.batch, _side_by_side(self.inputs)), joined(symbols(self.inputs)).text
            x = self.m.record("concat", *self.inputs, to=to, name="joined", note=note)
        before = self.h.seen_as(self.batch, Dim("state", self.h.dims[-1].size))
        from_x, from_h = self._product(names[0], x), self._product(names[1], before)
        self._describe(x.dims[-1].size, before.dims[-1].size)
        return self._with_biases(from_x, from_h)

    @cached_property
    def _both(self) -> Tensor:
        return self.m.record("add", *self._sums)

    def _product(self, name: str, x: Tensor) -> Tensor:
        """PyTorch stores the output axis first, Keras the input axis."""
        into, (gates, hidden) = x.dims[-1], self._stack
        elements = into.size * gates.size * hidden.size
        axes_kept = (into, self._stack) if self.cell.biases == "keras" else (self._stack, into)
        weight = self.m.param(name, *axes_kept, elements=elements, role=Role.RECURRENT)
        return self.m.record("contract", x, weight, to=axes(self.batch, self._stack), over=(into,))

    def _with_biases(self, from_x: Tensor, from_h: Tensor) -> tuple[Tensor, Tensor]:
        m = self.m
        if self.cell.biases == "two":
            from_x = m.record("add", from_x, m.param("bias_ih", self._stack))
            return from_x, m.record("add", from_h, m.param("bias_hh", self._stack))
        if self.cell.biases == "keras" and self.cell.kind == "gru":
            elements = self._stack[0].size * (Count(2) * self.hidden.size)
            bias = m.param("bias", Dim.of("biases", 2), self._stack, elements=elements, role=Role.BIAS)
            return m.record("add", from_x, bias), m.record("add", from_h, bias)
        if self.cell.biases == "keras":
            from_x = m.record("add", from_x, m.param("bias", self._stack))
        return from_x, from_h

    def _describe(self, into: Count, before: Count) -> None:
        """Each gate's slice of the stacked tensors, as a textbook lists them."""
        if self.cell.kind == "rnn":
            return
        width = self.hidden.size
        for name in NAMES[self.cell.kind]:
            vectors = self.cell.bias_vectors + (self.cell.peephole and name in PEEPING)
            self.m.words.parts.append(Part(name, total([into * width, before * width, *[width] * vectors])))

    def sums(self, name: str) -> Tensor:
        if self.cell.kind == "gru":
            return self.m.record("add", *map(self._share, self._sums))
        return self._share(self._both)

    def _share(self, stacked: Tensor) -> Tensor:
        if self.cell.kind == "rnn":
            return stacked.seen_as(self.batch, self.hidden)
        return self.m.record("view", stacked, to=axes(self.batch, self.hidden), select=self._stack[:1])

    def gate(self, name: str, *, sees: Tensor | None = None) -> Tensor:
        into = self.sums(name)
        if self.cell.peephole and sees is not None:
            m, three = self.m["peephole"], (Dim.of("peepholes", len(PEEPING)), self.hidden)
            weight = m.params.get("weight") or m.param("weight", three)
            into = self.m.record("add", into, m.record("multiply", sees, weight.seen_as(self.hidden)))
        return self._activated(name, into)

    def _activated(self, name: str, into: Tensor) -> Tensor:
        return self.m.record(NONLINEARITIES.get(name, "sigmoid"), into, name=name, note=self.symbol(name))

    def candidate_after(self, reset: Tensor) -> Tensor:
        from_x, from_h = self._sums
        let_through = self.m.record("multiply", reset, self._share(from_h))
        return self._activated("candidate", self.m.record("add", self._share(from_x), let_through))


def symbols(inputs: tuple[Tensor, ...]) -> tuple[Symbol, ...]:
    """The inputs in textbook notation: x, the attention context, or the h̃ of input feeding.

    Context and h̃ are called so, since the letters stand for an LSTM's cell state and a GRU's candidate too.
    """
    called = {"context": ("context c", NOW), "fed": ("fed h̃", BEFORE)}
    found = []
    for tensor in inputs:
        width = tensor.dims[-1]
        letter, time = called.get(width.name, ("x", NOW))
        found.append(Symbol(letter, time=time, shape=(int(width.size),)))
    return tuple(found)


def _side_by_side(tensors: tuple[Tensor, ...]) -> Dim:
    """`input+hidden`, of size `100 + 128`."""
    widths = [tensor.dims[-1] for tensor in tensors]
    return Dim("+".join(width.name for width in widths), sum((width.size for width in widths), Count(0)))
