"""How books and libraries write the same gates: one letter may stand for opposite gates.

A GRU's update gate keeps the old state (Cho et al. 2014, PyTorch, Keras) or lets the new one in (Ng, Chung et al. 2014,
Bahdanau et al. 2015). The reset gate acts on the state before its product with the matrix, or after it. `here` is their
gate by the one of `archcalc.layers.cell_equations`, whose Γu keeps the old state.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from archcalc.core.equations import (
    BEFORE,
    NOW,
    Elsewhere,
    Equation,
    Symbol,
    Term,
    elementwise,
    one_minus,
    plus,
)

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
