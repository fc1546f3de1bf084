"""The equations of a recurrent cell, in the bias convention of its spec.

    one    Γu = σ(Wu·[a⟨t−1⟩; x⟨t⟩] + bu)
    two    Γu = σ(Wu·x⟨t⟩ + bu + Uu·h⟨t−1⟩ + b′u)
    keras  as two; LSTM and SimpleRNN without b′
    none   as two, without b and b′

A GRU on paper resets the state before the product, Wh·[Γr∗h⟨t−1⟩; x⟨t⟩]; in libraries after it, Γr∗(Uh·h⟨t−1⟩ + b′h).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from archcalc.core.equations import (
    BEFORE,
    NOW,
    Combined,
    Equation,
    Symbol,
    System,
    Term,
    apply,
    elementwise,
    joined,
    one_minus,
    plus,
    product,
)
from archcalc.layers.gate_conventions import AFTER_PRODUCT, BEFORE_PRODUCT, LSTM_ELSEWHERE, gru_elsewhere

if TYPE_CHECKING:
    from archcalc.layers.recurrent import Cell

LETTERS = {"update_gate": "u", "forget_gate": "f", "output_gate": "o", "reset_gate": "r"}
SIGMOID, TANH = "σ", "tanh"


@dataclass(frozen=True)
class CellEquations:
    """`inputs` are x⟨t⟩, and in some decoders a context or what is fed back, with their widths."""

    cell: Cell
    inputs: tuple[Symbol, ...]

    def system(self) -> System:
        """The equations, and how others write the same gates."""
        if self.cell.kind == "lstm":
            return System(self._lstm(), LSTM_ELSEWHERE)
        if self.cell.kind == "gru":
            found, reset = self._gru(), BEFORE_PRODUCT if self.cell.is_on_paper else AFTER_PRODUCT
            return System(found, gru_elsewhere(found[-1], reset))
        return System((Equation(self._state(NOW), apply((self._sums(self.cell.letter),), TANH), "h"),))

    # The symbols

    def _state(self, time: str) -> Symbol:
        return Symbol(self.cell.letter, time=time, shape=(self.cell.projection or self.cell.hidden,))

    def _vector(self, letter: str, index: str = "", time: str = "") -> Symbol:
        return Symbol(letter, index, time, (self.cell.hidden,))

    def _gate(self, name: str) -> Symbol:
        return self._vector("Γ", LETTERS[name])

    @property
    def candidate(self) -> Symbol:
        letter = "c̃" if self.cell.kind == "lstm" else f"{self.cell.letter}\u0303"
        return self._vector(letter, time=NOW)

    # What stands in the brackets

    def _sums(self, index: str, *more: Term) -> Term:
        """Of one gate, before σ or tanh."""
        stacked = (*self._from_x(index), *self._from_h(index))
        products = self._on_paper(index, self._state(BEFORE)) if self.cell.is_on_paper else stacked
        terms = (*products, *more)
        return plus(terms) if len(terms) > 1 else products[0]

    def _product(self, letter: str, index: str, *vectors: Term, width: int) -> Combined:
        """A matrix with what it multiplies, side by side where that is several vectors."""
        matrix = Symbol(letter, index, shape=(self.cell.hidden, width))
        return product((matrix, vectors[0] if len(vectors) == 1 else joined(vectors)))

    def _on_paper(self, index: str, before: Term) -> tuple[Term, ...]:
        width = self._input_width + self._state(BEFORE).shape[0]
        return self._product("W", index, before, *self.inputs, width=width), self._vector("b", index)

    def _from_x(self, index: str) -> tuple[Term, ...]:
        biases = () if self.cell.biases == "none" else (self._vector("b", index),)
        return (self._product("W", index, *self.inputs, width=self._input_width), *biases)

    def _from_h(self, index: str) -> tuple[Term, ...]:
        before = self._state(BEFORE)
        from_state = self._product("U", index, before, width=before.shape[0])
        return (from_state, self._vector("b′", index)) if self.cell.bias_vectors > 1 else (from_state,)

    @property
    def _input_width(self) -> int:
        return sum(symbol.shape[0] for symbol in self.inputs)

    # The cells

    def _opened(self, name: str, sees: Symbol | None = None) -> Equation:
        """A gate; a peephole adds the cell state."""
        index = LETTERS[name]
        peephole = [elementwise((self._vector("p", index), sees))] if sees and self.cell.peephole else []
        return Equation(self._gate(name), apply((self._sums(index, *peephole),), SIGMOID), name)

    def _lstm(self) -> tuple[Equation, ...]:
        before, now = self._vector("c", time=BEFORE), self._vector("c", time=NOW)
        update, forget, out = (self._gate(name) for name in ("update_gate", "forget_gate", "output_gate"))
        kept = elementwise((update, self.candidate)), elementwise((forget, before))
        return (
            self._opened("update_gate", before),
            self._opened("forget_gate", before),
            Equation(self.candidate, apply((self._sums("c"),), TANH), "candidate"),
            Equation(now, plus(kept), "c"),
            self._opened("output_gate", now),
            *self._shown(elementwise((out, apply((now,), TANH)))),
        )

    def _shown(self, state: Combined) -> tuple[Equation, ...]:
        """The hidden state, through a projection if there is one."""
        narrow, wide = self.cell.projection, self._vector("m", time=NOW)
        if not narrow:
            return (Equation(self._state(NOW), state, "h"),)
        projected = product((Symbol("W", "p", shape=(narrow, self.cell.hidden)), wide))
        return Equation(wide, state, "h"), Equation(self._state(NOW), projected, "projection")

    def _gru(self) -> tuple[Equation, ...]:
        before, update = self._state(BEFORE), self._gate("update_gate")
        rest = one_minus((update,))
        mixed = elementwise((update, before)), elementwise((rest, self.candidate))
        return (
            self._opened("reset_gate"),
            self._opened("update_gate"),
            Equation(self.candidate, apply((self._reset(),), TANH), "candidate"),
            Equation(self._state(NOW), plus(mixed), "h"),
        )

    def _reset(self) -> Combined:
        """The candidate's sums: the reset gate is applied to the state, or to what the state is multiplied to."""
        gate, index = self._gate("reset_gate"), self.cell.letter
        if self.cell.is_on_paper:
            return plus(self._on_paper(index, elementwise((gate, self._state(BEFORE)))))
        from_h = self._from_h(index)
        inner = plus(from_h) if len(from_h) > 1 else from_h[0]
        return plus((*self._from_x(index), elementwise((gate, inner))))


def output_equations(read: Symbol, classes: int, *, bias: bool) -> System:
    """z = Wy·a + by and ŷ = softmax(z)."""
    z, found = (Symbol(letter, time=read.time, shape=(classes,)) for letter in ("z", "ŷ"))
    scores = product((Symbol("W", "y", shape=(classes, *read.shape)), read))
    logits = plus((scores, Symbol("b", "y", shape=(classes,)))) if bias else scores
    return System((Equation(z, logits), Equation(found, apply((z,), "softmax"))))
