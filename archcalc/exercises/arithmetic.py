"""The value of a working: `30000*1024 + 1024`, `2 × (512 + 3)`, `768.5 MiB`, `V·d + d`.

A small evaluator of its own: numbers, sizes by name, + − × ÷ and powers, brackets, units. Nothing else is understood,
and nothing is executed. Ways of writing numbers are made one before: Persian and Arabic digits, `30 721 024`,
`30'721'024`, `\\times`, 2¹⁰.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Mapping
from contextlib import suppress
from fractions import Fraction
from typing import NamedTuple

LONGEST = 400  # characters
LARGEST = 10**60  # beyond any figure of a worksheet
ROUND = "000"  # how a plain number ends that may be rounded
DEEPEST = 40  # brackets within brackets
Named = Mapping[str, int]  # sizes by the letters and names that may be written for them
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "b": 10**9, "t": 10**12, "p": 10**15, "e": 10**18, "z": 10**21}
_BINARY = {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40, "pi": 2**50}
_WORDS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
UNITS = _DECIMAL | _BINARY | _WORDS
_NUMBER = r"(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,2}(?!\d))?"
_UNIT = r"(?:[kKmMgGtTpP]i?(?:[bB]|bytes?)?|[EZ]B?|[Bb](?:ytes?)?|thousand|million|billion|trillion)"
_COUNTED = r"(?:params?|parameters?|weights?|flops?|macs?|bytes?|elements?|floats?|numbers?)"  # what a number is of
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})\s*(?P<unit>{_UNIT}(?=\W|$|{_COUNTED}))?(?:\s*{_COUNTED}\b)?"
    r"|(?P<sign>\*\*|//|[-+*/^()]|[xX](?=[\s\d(]))|(?P<name>[^\W\d]\w*))",
    re.IGNORECASE,
)
_OPERATORS = {"x": "*", "X": "*", "^": "**"}
_OPERATIONS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv}
FEWEST = 2  # digits; with one digit too much would pass for rounded
_SIGNS = {
    **dict.fromkeys("×⋅·∙•✕✖∗", "*"),
    **dict.fromkeys("−–—‒﹣-", "-"),
    **dict.fromkeys("÷∕⁄", "/"),
    **dict.fromkeys("٬،", ","),
    **dict.fromkeys("’‘`", "'"),
    **dict.fromkeys("≃≅∼~", "≈"),
    "٫": ".",
}
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_LOWERED = str.maketrans(_SUPERSCRIPTS, "0123456789")
_RAISED = re.compile(f"[{_SUPERSCRIPTS}]+")
_LATEX = (
    (re.compile(r"\\(?:times|cdot|ast|bullet)(?![A-Za-z])"), "*"),
    (re.compile(r"\\(?:div)(?![A-Za-z])"), "/"),
    (re.compile(r"\\(?:approx|sim|simeq)(?![A-Za-z])"), "≈"),
    (re.compile(r"\\(?:left|right|displaystyle|quad|qquad)(?![A-Za-z])|\\[,;:! ]|\$|\\[()\[\]]"), " "),
    (re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}"), r"((\1)/(\2))"),
    (re.compile(r"\\(?:text|mathrm|mathit|mathbf|operatorname)\s*\{([^{}]*)\}"), r"\1"),
    (re.compile(r"\{,\}"), ","),
    (re.compile(r"\^\s*\{([^{}]*)\}"), r"^(\1)"),
    (re.compile(r"_\s*\{([^{}]*)\}"), r"_\1"),
)
_BY_SPACES = re.compile(r"(?<![\d.,])\d{1,3}(?: \d{3})+(?! ?\d)")
_BY_MARKS = re.compile(r"(?<![\d.,])\d{1,3}(?:['_]\d{3})+(?!\d)")
_BY_COMMAS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{2,3})*,\d{3}(?![\d,])")  # also 3,07,21,024
_BY_POINTS = re.compile(r"(?<![\d.,])\d{1,3}(?:\.\d{3}){2,}(?![\d.])")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(\d+),(\d+)(?![\d,.])")


class Number(NamedTuple):
    """The value of an answer, and how exactly it was written."""

    value: Fraction
    last_digit: Fraction | None = None  # what its last digit counts, where it is a single number: 10⁵ in 30.7M
    is_plain: bool = False  # digits alone, which are rarely meant as rounded
    otherwise: Fraction | None = None  # with its one separator read the other way: 30.721 as thirty thousand
    worked: Fraction | None = None  # what the working before it comes to, if that is something else


def number(text: str, named: Named | None = None) -> Number:
    """The value of an answer. Raises ValueError with what is wrong."""
    if len(text) > LONGEST:
        raise ValueError(f"more than {LONGEST} characters")
    *workings, last = [part for part in re.split(r"[=≈]", unified(text)) if part.strip()] or [""]
    found, before = _literal(last, named or {}), list[Fraction]()
    for part in workings:
        with suppress(ValueError):  # the left side of an equation may be a name: `P = 3 × 5`
            before.append(evaluated(ungrouped(part), named or {}))
    tolerance = 0 if found.is_plain else found.last_digit or 0
    apart = [value for value in before if value != found.otherwise and abs(value - found.value) > tolerance]
    return found._replace(worked=next(iter(apart), None))


def _literal(text: str, named: Named) -> Number:
    """The last side of an equation, with its precision where it is a single number."""
    value = evaluated(ungrouped(text), named)
    match = _TOKEN.fullmatch(ungrouped(text).strip())
    if not match or not match["number"]:
        return Number(value)
    digits, unit = match["number"], _factor(match["unit"] or "")
    is_plain = unit == 1 and digits.isdecimal()
    mantissa, _, exponent = digits.lower().partition("e")
    power = int(exponent or 0) - len(mantissa.partition(".")[2])
    if is_plain and digits.endswith(ROUND):  # zeros at the end of a plain number say nothing
        power = len(digits) - len(digits.rstrip("0"))
    return Number(value, Fraction(10) ** power * unit, is_plain, _other_reading(text, unit))


def _other_reading(text: str, unit: int) -> Fraction | None:
    """`30.721` may be thirty thousand, and `30,721` thirty and a bit."""
    found = re.search(r"(?<![\d.,])(\d{1,3})([.,])(\d{3})(?![\d.,eE])", text)
    if not found:
        return None
    whole, sign, rest = found.groups()
    if sign == ".":
        return Fraction(whole + rest) * unit
    return Fraction(f"{whole}.{rest}") * unit


def evaluated(text: str, named: Named) -> Fraction:
    """The value of a working in plain signs."""
    found = _Reader(_tokens(text, named))
    value = found.sum(0)
    if found.tokens:
        token = found.tokens[0]
        shown = f"'{token}'" if isinstance(token, str) else f"the number {token}"
        raise ValueError(f"{shown} is not expected there")
    return value


def _tokens(text: str, named: Named) -> list[str | Fraction]:
    tokens: list[str | Fraction] = []
    place = 0
    while text[place:].strip():
        match = _TOKEN.match(text, place)
        if not match:
            raise ValueError(f"'{text[place:].strip()[:20]}' is no number and no sign of arithmetic")
        place, name = match.end(), match["name"]
        if match["sign"]:
            tokens.append(_OPERATORS.get(match["sign"], match["sign"]))
        elif name:
            found = named.get(name, named.get(name.lower()))
            if found is None:
                raise ValueError(f"'{name[:20]}' is no number, and no one size of this sheet")
            tokens.append(Fraction(found))
        else:
            number = Fraction(match["number"].replace("_", "").rstrip("."))
            tokens.append(_bounded(number * _factor(match["unit"] or "")))
    return tokens


def _factor(unit: str) -> int:
    """Units are decimal unless written binary: 1 MB is 10⁶, 1 MiB is 2²⁰; a bare B is a billion, as in 8B."""
    plain = re.sub(r"(?i)(?<=\w)b(?:ytes?)?$|^bytes?$", "", unit).lower()
    return UNITS[plain]


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
            value = _bounded(_OPERATIONS[sign](value, self._product(depth)))
        return value

    def _product(self, depth: int) -> Fraction:
        value = self._power(depth)
        while sign := self._next("*", "/", "//"):
            other = self._power(depth)
            if other == 0 and sign != "*":
                raise ValueError("a division by zero")
            value = _bounded(Fraction(_OPERATIONS[sign](value, other)))
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


def is_rounded(given: Fraction, exact: Fraction, last_digit: Fraction | None = None) -> bool:
    """Rounded to as many digits as `given` has, or cut off there; not the exact number itself.

    `last_digit` is what its last digit counts, where the writing tells: 10⁶ in `2.00e8`.
    """
    unit = last_digit or _smallest_unit(given)
    if unit is None or given == exact or given < unit * 10 ** (FEWEST - 1):
        return False
    return abs(exact - given) * 2 <= unit or given <= exact < given + unit


def _smallest_unit(given: Fraction) -> Fraction | None:
    """What one more in the last digit before the trailing zeros comes to; None where the decimals never end."""
    if given <= 0:
        return None
    unit = Fraction(1)
    while (given / unit).denominator != 1:
        unit /= 10
        if unit < Fraction(1, 10**12):
            return None
    while (given / (unit * 10)).denominator == 1:
        unit *= 10
    return unit


def unified(text: str) -> str:
    """Digits and signs as a keyboard has them; LaTeX as plain signs."""
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    text = "".join(map(_character, text))
    return _RAISED.sub(lambda found: f"^{found[0].translate(_LOWERED)}", text).strip()


def _character(character: str) -> str:
    if character in _SIGNS or character.isascii():
        return _SIGNS.get(character, character)
    plain = {"Zs": " ", "Cf": ""}.get(unicodedata.category(character))  # narrow spaces, marks of direction
    if plain is not None:
        return plain
    digit = unicodedata.decimal(character, None)
    return character if digit is None else str(digit)


def ungrouped(text: str) -> str:
    """Without separators of thousands; a comma that separates none is one of decimals."""
    for pattern in (_BY_SPACES, _BY_MARKS, _BY_COMMAS, _BY_POINTS):
        text = pattern.sub(lambda found: re.sub(r"[ '_,.]", "", found[0]), text)
    return _DECIMAL_COMMA.sub(r"\1.\2", text)
