"""Recurrent cells: one time step of an LSTM, a GRU or a plain RNN, recorded once and called for every position.

    LSTM   Γu, Γf, Γo = σ(…), c̃ = tanh(…);  c = Γu∗c̃ + Γf∗c⟨t−1⟩;  h = Γo∗tanh(c)
    GRU    Γu, Γr = σ(…), h̃ = tanh(…);      h = Γu∗h⟨t−1⟩ + (1−Γu)∗h̃
    RNN    h = tanh(…)

What stands in the brackets, and with how many biases, is the convention that the spec names:

    one    W·[h; x] + b: a matrix and a bias for each gate, as on paper; a GRU resets h before the product
    two    W·x + b + U·h + b′: all gates stacked in one W and one U, as in PyTorch and cuDNN; a GRU resets U·h + b′
    keras  as two, but with a single b in Keras' LSTM and SimpleRNN; its GRU (reset_after) has both
    none   as two, without biases

`one` is what a textbook draws; the others are what libraries keep, and what a checkpoint holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from archcalc.core.count import Count, total
from archcalc.core.equations import BEFORE, NOW, Symbol, System, joined
from archcalc.core.ir import Axis, Dim, Module, Part, Role, Tensor, axes
from archcalc.layers.cell_equations import CellEquations
from archcalc.layers.linear import linear

State = tuple[Tensor, ...]  # h, and the c of an LSTM


@dataclass(frozen=True)
class Cell:
    """A recurrent cell and its convention."""

    kind: str  # lstm, gru, rnn
    biases: str  # one, two, keras, none
    hidden: int
    projection: int | None = None
    peephole: bool = False
    letter: str = "h"  # that stands for the hidden state

    @property
    def is_on_paper(self) -> bool:
        """A matrix for each gate over the state and the input together, as textbooks write it."""
        return self.biases == "one"

    @property
    def bias_vectors(self) -> int:
        """How many each gate has."""
        of_keras = 2 if self.kind == "gru" else 1
        return {"one": 1, "two": 2, "keras": of_keras, "none": 0}[self.biases]

    @property
    def kept(self) -> tuple[Dim, ...]:
        """The widths of the state passed to the next step: h, and an LSTM's c."""
        hidden = Dim.of("hidden", self.hidden)
        state = Dim.of("projection", self.projection) if self.projection else hidden
        return (state, hidden) if self.kind == "lstm" else (state,)

    def zeros(self, m: Module, batch: Dim) -> State:
        """The initial state."""
        return tuple(m.record("zeros", to=axes(batch, width)) for width in self.kept)

    def step(self, m: Module, inputs: tuple[Tensor, ...], before: State) -> State:
        """One step: from what comes in (x, and in some decoders a context) and the state before to the state after."""
        x, *beside = inputs
        x = x.seen_as(before[0].dims[0], Dim("input", x.dims[-1].size))
        read = (x, *beside)
        equations = m.words.equations = CellEquations(self, symbols(read)).system()
        gates = (OnPaper if self.is_on_paper else Stacked)(m, self, read, before[0], equations)
        # what a projection makes narrower is not the state yet
        title = "before the projection" if self.projection else f"hidden state {self.letter}"
        shown: dict[str, Any] = {"name": "h", "title": title, "note": equations.of("h").right.text}
        if self.kind == "lstm":
            after = _lstm(m, gates, before, shown)
        elif self.kind == "gru":
            after = (_gru(m, gates, before[0], shown),)
        else:
            after = (m.record("tanh", gates.sums("state"), **shown),)
        return (linear(m["projection"], after[0], self.kept[0], bias=False), *after[1:]) if self.projection else after


def _lstm(m: Module, gates: OnPaper | Stacked, before: State, shown: dict[str, Any]) -> State:
    _, cell = before
    update, forget = (gates.gate(name, sees=cell) for name in ("update_gate", "forget_gate"))
    written = m.record("multiply", update, gates.gate("candidate"))
    remembered, note = m.record("multiply", forget, cell), gates.equations.of("c").right.text
    c = m.record("add", written, remembered, name="c", title="cell state c", note=note)
    bent = m.record("tanh", c)
    return m.record("multiply", gates.gate("output_gate", sees=c), bent, **shown), c


def _gru(m: Module, gates: OnPaper | Stacked, h: Tensor, shown: dict[str, Any]) -> Tensor:
    reset, update = gates.gate("reset_gate"), gates.gate("update_gate")
    candidate = gates.candidate_after(reset)
    remembered = m.record("multiply", update, h)
    written = m.record("multiply", m.record("subtract", update), candidate)
    return m.record("add", remembered, written, **shown)


# The gates

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
        into, state, width = x.dims[-1].size, before.dims[-1].size, self.hidden.size
        for name in NAMES[self.cell.kind] if self.cell.kind != "rnn" else ():
            # each gate's slice of the stacked tensors, as a textbook lists them
            vectors = self.cell.bias_vectors + (self.cell.peephole and name in PEEPING)
            self.m.words.parts.append(Part(name, total([into * width, state * width, *[width] * vectors])))
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
