"""Recurrent cells: one time step of an LSTM, a GRU or a plain RNN, recorded once and called for every position.

    LSTM   Γu, Γf, Γo = σ(…), c̃ = tanh(…);  c = Γu∗c̃ + Γf∗c⟨t−1⟩;  h = Γo∗tanh(c)
    GRU    Γu, Γr = σ(…), h̃ = tanh(…);      h = Γu∗h⟨t−1⟩ + (1−Γu)∗h̃
    RNN    h = tanh(…)

What stands in the brackets, and with how many biases, is the convention: see `archcalc.layers.gates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.layers.cell_equations import CellEquations
from archcalc.layers.gates import OnPaper, Stacked, symbols
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
