"""The equations of a recurrent cell, in the bias convention of its spec.

    one    Γu = σ(Wu·[a⟨t−1⟩; x⟨t⟩] + bu)
    two    Γu = σ(Wu·x⟨t⟩ + bu + Uu·h⟨t−1⟩ + b′u)
    keras  as two; LSTM and SimpleRNN without b′
    none   as two, without b and b′

A GRU on paper resets the state before the product, Wh·[Γr∗h⟨t−1⟩; x⟨t⟩]; in libraries after it, Γr∗(Uh·h⟨t−1⟩ + b′h).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from archcalc.core.equations import (
    BEFORE,
    NOW,
    Combined,
    Elsewhere,
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
        # the reset gate is applied to the state, or to what the state is multiplied to
        gate, index = self._gate("reset_gate"), self.cell.letter
        from_h = self._from_h(index)
        inner = plus(from_h) if len(from_h) > 1 else from_h[0]
        sums: tuple[Term, ...] = (*self._from_x(index), elementwise((gate, inner)))
        if self.cell.is_on_paper:
            sums = self._on_paper(index, elementwise((gate, before)))
        return (
            self._opened("reset_gate"),
            self._opened("update_gate"),
            Equation(self.candidate, apply((plus(sums),), TANH), "candidate"),
            Equation(self._state(NOW), plus(mixed), "h"),
        )


def output_equations(read: Symbol, classes: int, *, bias: bool) -> System:
    """z = Wy·a + by and ŷ = softmax(z)."""
    z, found = (Symbol(letter, time=read.time, shape=(classes,)) for letter in ("z", "ŷ"))
    scores = product((Symbol("W", "y", shape=(classes, *read.shape)), read))
    logits = plus((scores, Symbol("b", "y", shape=(classes,)))) if bias else scores
    return System((Equation(z, logits), Equation(found, apply((z,), "softmax"))))


# How books and libraries write the same gates: one letter may stand for opposite gates. A GRU's update gate keeps the
# old state (Cho et al. 2014, PyTorch, Keras) or lets the new one in (Ng, Chung et al. 2014, Bahdanau et al. 2015). The
# reset gate acts on the state before its product with the matrix, or after it.

BEFORE_PRODUCT, AFTER_PRODUCT = "before", "after"
OURS = Symbol("Γ", "u")
FIRST, LAST = 0, 1


@dataclass(frozen=True)
class GruConvention:
    """`gate` is the update gate as the source calls it, `here` the same by the Γu above, which keeps the old state."""

    source: str
    gate: Symbol
    state: Equation
    here: Term
    reset: str


def _convention(
    keeps: bool, source: str, gate: Symbol, letters: tuple[str, str], reset: str, rest: int = LAST
) -> GruConvention:
    """The gate is the share of the old state, or of the new one: the opposite. The rest, 1 − gate, stands last or
    first."""
    (state, candidate), others = letters, one_minus((gate,))
    old, new = Symbol(state, time=BEFORE), Symbol(candidate, time=NOW)
    shares = ((gate, old), (others, new)) if keeps else ((gate, new), (others, old))
    terms = [elementwise(share) for share in shares]
    mixed = plus(tuple(reversed(terms) if rest == FIRST else terms))
    here = OURS if keeps else one_minus((OURS,))
    return GruConvention(source, gate, Equation(Symbol(state, time=NOW), mixed), here, reset)


_keeping, _writing = partial(_convention, True), partial(_convention, False)
_Z = Symbol("z")
GRU = (
    _keeping("Cho et al. 2014", _Z, ("h", "h̃"), BEFORE_PRODUCT),  # arXiv:1406.1078, equations 7 and 8
    _keeping("PyTorch, cuDNN", _Z, ("h", "n"), AFTER_PRODUCT, FIRST),  # torch.nn.GRU; cudnnRNNMode_t
    _keeping("Keras", _Z, ("h", "h̃"), AFTER_PRODUCT),  # with reset_after=True, its default
    _writing("Chung et al. 2014", _Z, ("h", "h̃"), BEFORE_PRODUCT, FIRST),  # arXiv:1412.3555, equations 5 to 8
    _writing("Bahdanau et al. 2015", _Z, ("s", "s̃"), BEFORE_PRODUCT, FIRST),  # arXiv:1409.0473, appendix A.1.1
    _writing("Ng's course", OURS, ("c", "c̃"), BEFORE_PRODUCT),  # course 5, week 1
)

LSTM = (  # what each source calls them
    ("this spec, Ng's course", "Γu", "Γf", "c̃", "Γo"),
    ("PyTorch, cuDNN", "i", "f", "g", "o"),  # torch.nn.LSTM
    ("Keras", "i", "f", "c", "o"),  # the slices of LSTMCell's kernel
    ("Graves 2013", "i", "f", "tanh(…)", "o"),  # arXiv:1308.0850, equations 7 to 11
)

ABOUT_GRU = (
    "one letter may stand for opposite gates: the column here writes each by the Γu of this spec, which keeps the old "
    "state where it is 1; reset: whether it acts before or after the state's product with its matrix"
)
ABOUT_LSTM = "the update gate Γu is what others call the input gate; all of these are the same gates"
LSTM_ELSEWHERE = Elsewhere(("written by", "update", "forget", "candidate", "output"), LSTM, ABOUT_LSTM)


def gru_elsewhere(state: Equation, reset: str) -> Elsewhere:
    """The convention of this spec first."""
    own = ("this spec", state.text, OURS.text, OURS.text, reset)
    others = ((one.source, one.state.text, one.gate.text, one.here.text, one.reset) for one in GRU)
    return Elsewhere(("written by", "state", "gate", "here", "reset"), (own, *others), ABOUT_GRU)
