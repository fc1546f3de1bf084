"""Expressions of a network's sizes and conditions: what is worked out, and what only looks like it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

NUMBERS = ("1", "2", "3", "4", "8", "16")
ODD_NUMBERS = ("0", "1000", "10**9", "1e15", "1.5", "-1", "0x10", "9" * 40, "1_000", "1j", "None", "wdth", "x", "depth")
OPERATORS = ("+", "*", "//", "+", "*", "-")
ODD_OPERATORS = ("/", "%", "**", "@", "<<", "&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
ODD_COMPARISONS = ("in", "is", "not in")
CALLED = ("max", "min")
ODDLY_CALLED = ("abs", "int", "pow", "len", "print", "__import__", "max.x", "(min)")
STRANGE = (
    "", " ", "(", ")", "max(", "max()", "min(8)", "max(1, 2, key=3)", "max(*width)", "[1]", "{1: 2}", "'a'",
    "lambda: 1", "width if 1 else 2", "(width := 3)", "width.real", "width[0]", "1; 2", "1 2", "2or 3", "not", "- - -",
    "a b c", "é", "×", "3 × 4", "3x3", "stage-1", "((" * 60 + "1" + "))" * 60, "1+" * 150 + "1", "0" * 90, "01", "...",
    "await x", "yield", "1 < 2 < 3 < width", "not not not 1", "True and 'a'", "'a' < 1", "1 == 'a'", "max('a', 'b')",
    "f'{width}'", "-" * 150 + "1", "not " * 40 + "true", "9" * 150, "1e400", "max(1, 2) " * 9,
)  # fmt: skip
DEEPEST = 3


class Expressions:
    """Over some names; `wild` is how often a piece is none that can be worked out."""

    def __init__(self, random: Random, names: Sequence[str], wild: float) -> None:
        self.random, self.names, self.wild = random, names, wild

    def _of(self, usual: Sequence[str], strange: Sequence[str]) -> str:
        return self.random.choice(strange if self.random.random() < self.wild else usual)

    def number(self, depth: int = 0) -> str:
        chosen = self.random.random()
        if chosen < self.wild / 3:
            return self.random.choice(STRANGE)
        if depth > DEEPEST or chosen < 0.45:
            return self._of((*NUMBERS, *self.names, *self.names), ODD_NUMBERS)
        if chosen < 0.75:
            return f"{self.number(depth + 1)} {self._of(OPERATORS, ODD_OPERATORS)} {self.number(depth + 1)}"
        if chosen < 0.85:
            return f"({self._of(('',), ('-', '+', '~'))}{self.number(depth + 1)})"
        least = 2 if self.random.random() >= self.wild else 0
        given = [self.number(depth + 1) for _ in range(least + self.random.choice((0, 0, 1)))]
        return f"{self._of(CALLED, ODDLY_CALLED)}({', '.join(given)})"

    def condition(self, depth: int = 0) -> str:
        chosen = self.random.random()
        if chosen < self.wild / 3:
            return self.number(depth + 1)
        if depth > DEEPEST or chosen < 0.7:
            return f"{self.number(depth + 1)} {self._of(COMPARISONS, ODD_COMPARISONS)} {self.number(depth + 1)}"
        if chosen < 0.8:
            return f"not ({self.condition(depth + 1)})"
        joined = self.random.choice(("and", "or"))
        return f"{self.condition(depth + 1)} {joined} {self.condition(depth + 1)}"
