"""How the kinds of op are written in a formula, one line each. A kind without a line is a function of its inputs.

`{0}` is the first input, `{all}` are all of them, `{word}` is what pictures call the op, `{note}` is what it says of
itself. `room` is how strongly an input has to hold together so that it needs no brackets, `strength` how strongly the
whole does: 1 a sum, 2 a product, 3 a letter or a call.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Formula:
    """Either a `text` with places for the inputs, or what stands `between` them."""

    text: str = ""
    between: str = ""
    room: int = 1
    strength: int = 3
    result: str = ""  # what comes out, where nobody gave it a name
    of_one: Formula | None = None  # where there is only one input: the other is a number


CALL = Formula("{word}({all})")
_ITSELF = Formula("{0}", room=3)
FORMULAS: dict[str, Formula] = {
    "add": Formula(between=" + ", strength=1, result="sum", of_one=Formula("{0} + {note}", strength=1)),
    "subtract": Formula(
        between=" − ", room=2, strength=1, result="difference", of_one=Formula("1 − {0}", room=2, strength=1)
    ),
    "multiply": Formula(
        between=" ∗ ", room=2, strength=2, result="product", of_one=Formula("{note}·{0}", room=2, strength=2)
    ),
    "divide": Formula(
        between=" / ", room=3, strength=2, result="quotient", of_one=Formula("{0} / {note}", room=3, strength=2)
    ),
    "scale": Formula("{note}·{0}", room=2, strength=2),
    "square": Formula("{0}²", room=3),
    "cube": Formula("{0}³", room=3),
    "root": Formula("√({0})"),
    "exp": Formula("exp({0})"),
    "sigmoid": Formula("σ({0})"),
    "sum": Formula("Σ {0}", room=2, strength=2),
    "lookup": Formula("{1}[{0}]", of_one=Formula("{0}")),
    "concat": Formula("[{all}]", result="joined"),
    "rotate": Formula("rotate({0})", result="rotated"),
    "choose": Formula("top({0})"),
    "gather": Formula("rows of {0}", strength=2),
    "affine": Formula("{0}·{1} + {2}", room=2, strength=1),
    "mask": Formula("mask({0})"),
    "where": Formula("mask({0})"),
    **dict.fromkeys(("view", "identity", "copy", "repeat", "dropout", "unpack", "within", "reorder"), _ITSELF),
}
