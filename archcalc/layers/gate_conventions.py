"""How books and libraries write the same gates: one letter may stand for opposite gates.

A GRU's update gate keeps the old state (Cho et al. 2014, PyTorch, Keras) or lets the new one in (Ng, Chung et al. 2014,
Bahdanau et al. 2015). The reset gate acts on the state before its product with the matrix, or after it. `here` is their
gate by the one of `archcalc.layers.cell_equations`, whose Γu keeps the old state.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.equations import BEFORE, NOW, Elementwise, Elsewhere, Equation, OneMinus, Plus, Symbol, Term

BEFORE_PRODUCT, AFTER_PRODUCT = "before", "after"
OURS = Symbol("Γ", "u")
FIRST, LAST = 0, 1


@dataclass(frozen=True)
class GruConvention:
    """`gate` is the update gate as the source calls it, `here` the same as this program would write it."""

    source: str
    gate: Symbol
    state: Equation
    here: Term
    reset: str


def _keeping(source: str, gate: Symbol, letters: tuple[str, str], reset: str, rest: int = LAST) -> GruConvention:
    """The gate is the share of the old state; the rest, 1 − gate, stands last or first."""
    old, new, now = _states(letters)
    return GruConvention(source, gate, _mixed(now, (gate, old), (OneMinus(gate), new), rest), OURS, reset)


def _writing(source: str, gate: Symbol, letters: tuple[str, str], reset: str, rest: int = LAST) -> GruConvention:
    """The gate is the share of the new state: the opposite."""
    old, new, now = _states(letters)
    return GruConvention(source, gate, _mixed(now, (gate, new), (OneMinus(gate), old), rest), OneMinus(OURS), reset)


def _states(letters: tuple[str, str]) -> tuple[Symbol, Symbol, Symbol]:
    state, candidate = letters
    return Symbol(state, time=BEFORE), Symbol(candidate, time=NOW), Symbol(state, time=NOW)


def _mixed(now: Symbol, share: tuple[Term, Symbol], others: tuple[Term, Symbol], rest: int) -> Equation:
    terms = [Elementwise(*share)]
    terms.insert(rest, Elementwise(*others))
    return Equation(now, Plus(tuple(terms)))


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


def gru_elsewhere(state: Equation, reset: str) -> Elsewhere:
    """The convention of this spec first."""
    own = ("this spec", state.text, OURS.text, OURS.text, reset)
    others = ((one.source, one.state.text, one.gate.text, one.here.text, one.reset) for one in GRU)
    return Elsewhere(("written by", "state", "gate", "here", "reset"), (own, *others), ABOUT_GRU)


def lstm_elsewhere() -> Elsewhere:
    return Elsewhere(("written by", "update", "forget", "candidate", "output"), LSTM, ABOUT_LSTM)
