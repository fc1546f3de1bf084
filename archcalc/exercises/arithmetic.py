"""Answers as people write them: `201,466,160`, `30000*1024 + 1024`, `2 × (512 + 3)`, `768.5 MiB`, `32 x 2048 x 1024`.

A small evaluator of its own: numbers, + − × ÷ and powers, brackets, units. Nothing else is understood, and nothing is
executed.
"""

from __future__ import annotations

import re
from fractions import Fraction

LONGEST = 400  # characters
LARGEST = 10**60  # beyond any figure of a worksheet
DEEPEST = 40  # brackets within brackets
_DECIMAL = {"k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12, "p": 10**15}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d[\d_]*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?"
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})\s*(?P<unit>(?:[kKmMgGtT]i?B?|[BP])\b)?|(?P<sign>\*\*|//|[-+*×·x/÷^()−]))"
)
_SIGNS = {"×": "*", "·": "*", "x": "*", "−": "-", "÷": "/", "^": "**"}
_SHAPE = re.compile(r"[\[(]?\s*\d[\d_]*(?:\s*[x×*,·]\s*\d[\d_]*)*\s*[\])]?", re.IGNORECASE)


def number(text: str) -> Fraction:
    """The value of an answer. Raises ValueError with what is wrong."""
    if len(text) > LONGEST:
        raise ValueError(f"more than {LONGEST} characters")
    found = _Reader(_tokens(text.strip().lstrip("=")))
    value = found.sum(0)
    if found.tokens:
        raise ValueError(f"'{found.tokens[0]}' is not expected there")
    return value


def shape(text: str) -> tuple[int, ...]:
    """`32 x 2048 x 1024`, `[32, 2048, 1024]`, `32×2048×1024`."""
    if len(text) > LONGEST or not _SHAPE.fullmatch(text.strip()):
        raise ValueError("it is no shape")
    return tuple(int(size.replace("_", "")) for size in re.findall(r"\d[\d_]*", text))


def _tokens(text: str) -> list[str | Fraction]:
    tokens: list[str | Fraction] = []
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if not match:
            raise ValueError(f"'{text[place:].strip()[:20]}' is no number and no sign of arithmetic")
        place = match.end()
        sign = match["sign"]
        tokens.append(_SIGNS.get(sign, sign) if sign else _value(match["number"], match["unit"] or ""))
    return tokens


def _value(digits: str, unit: str) -> Fraction:
    """Units are decimal unless written binary: 1 MB is 10⁶, 1 MiB is 2²⁰."""
    plain = unit if unit == "B" else unit.removesuffix("B")
    factor = (_DECIMAL | _BINARY | {"": 1})[plain.lower()]
    return _bounded(Fraction(digits.replace(",", "").replace("_", "")) * factor)


def _bounded(value: Fraction) -> Fraction:
    if abs(value) > LARGEST or value.denominator > LARGEST:
        raise ValueError("a larger number than any figure of a worksheet")
    return value


class _Reader:
    """Sums of products of powers, from left to right."""

    def __init__(self, tokens: list[str | Fraction]) -> None:
        self.tokens = tokens

    def _next(self, *signs: str) -> str:
        """The sign that stands next, taken, if it is one of these."""
        found = self.tokens[0] if self.tokens else ""
        if isinstance(found, Fraction) or found not in signs:
            return ""
        self.tokens.pop(0)
        return found

    def sum(self, depth: int) -> Fraction:
        value = self._product(depth)
        while sign := self._next("+", "-"):
            other = self._product(depth)
            value = _bounded(value + other if sign == "+" else value - other)
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._power(depth)
        while sign := self._next("*", "/", "//"):
            value = _bounded(_combined(value, sign, self._power(depth)))
        return value

    def _power(self, depth: int) -> Fraction:
        value = self._operand(depth)
        if not self._next("**"):
            return value
        exponent = self._power(depth)
        if exponent.denominator != 1 or not 0 <= exponent <= 64:
            raise ValueError("a power is a whole number from 0 to 64")
        return _bounded(value ** int(exponent))

    def _operand(self, depth: int) -> Fraction:
        if depth > DEEPEST:
            raise ValueError(f"more than {DEEPEST} brackets within brackets")
        if self._next("-"):
            return -self._operand(depth + 1)
        if self._next("("):
            value = self.sum(depth + 1)
            if not self._next(")"):
                raise ValueError("a bracket is not closed")
            return value
        found = self.tokens.pop(0) if self.tokens else ""
        if isinstance(found, str):
            raise ValueError(f"expected a number, found '{found}'" if found else "a number is missing at the end")
        return found


def _combined(left: Fraction, sign: str, right: Fraction) -> Fraction:
    if sign == "*":
        return left * right
    if right == 0:
        raise ValueError("a division by zero")
    return left / right if sign == "/" else Fraction(left // right)
