"""Count: an exact int that remembers how it was worked out.

    >>> d_model, head_dim = Count.named("d_model", 1024), Count.named("head_dim", 192)
    >>> one_head = d_model * head_dim + head_dim
    >>> one_head, one_head.worked(), one_head.worked(names=True)
    (196800, '1024 × 192 + 192', 'd_model × head_dim + head_dim')

A Count is an int wherever an int is wanted: it formats, compares, hashes and serialises as one. `+` joins terms into
one flat sum, while `total` keeps each term as a group of its own, the way a person brackets a sum of layers.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, NamedTuple, SupportsIndex


class Leaf(NamedTuple):
    """A number without further working: a size, or the subtotal of a module."""

    value: int
    name: str = ""
    copies: bool = False  # counts equal copies (heads, experts): written in front of what it repeats
    subtotal: bool = False  # worked out elsewhere: written with thousands separators

    def text(self, names: bool) -> str:
        if names and self.name:
            return self.name
        return f"{self.value:,}" if self.subtotal else str(self.value)


class Product(NamedTuple):
    factors: tuple[Expression, ...]

    def text(self, names: bool) -> str:
        *first, last = sorted(self.factors, key=lambda factor: factor not in _copies(self))
        return " × ".join([*(_bracketed(factor, names) for factor in first), _last_factor(last, names)])


class Sum(NamedTuple):
    terms: tuple[Expression, ...]

    def text(self, names: bool) -> str:
        """A factor that all terms share is written once in front; equal terms are written once with their number."""
        shared = _shared_copies(self.terms)
        groups = _grouped(tuple(_without(term, shared) for term in self.terms), names)
        if not shared:
            return " + ".join(groups)
        inner = groups[0] if len(groups) == 1 else f"({' + '.join(groups)})"
        return " × ".join([*(leaf.text(names) for leaf in shared), inner])


class Infix(NamedTuple):
    """Any other operation: a difference, an integer division, a power."""

    left: Expression
    symbol: str
    right: Expression

    def text(self, names: bool) -> str:
        left, right = _bracketed(self.left, names), _bracketed(self.right, names)
        if self.symbol == "**":
            return left + right.translate(_SUPERSCRIPT) if right.isdecimal() else f"{left}^{right}"
        return f"{left} {self.symbol} {right}"


Expression = Leaf | Product | Sum | Infix

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _bracketed(expression: Expression, names: bool) -> str:
    text = expression.text(names)
    return text if isinstance(expression, Leaf) else f"({text})"


def _last_factor(expression: Expression, names: bool) -> str:
    """A sum that reads `4 × (…)` is a product already: `2 × 4 × (…)` needs no more brackets."""
    is_product = isinstance(expression, Sum) and _shared_copies(expression.terms)
    return expression.text(names) if is_product else _bracketed(expression, names)


def _copies(term: Expression) -> tuple[Leaf, ...]:
    factors = term.factors if isinstance(term, Product) else (term,)
    if isinstance(term, Sum):
        return _shared_copies(term.terms)
    return tuple(factor for factor in factors if isinstance(factor, Leaf) and factor.copies)


def _shared_copies(terms: tuple[Expression, ...]) -> tuple[Leaf, ...]:
    return tuple(leaf for leaf in _copies(terms[0]) if all(leaf in _copies(term) for term in terms))


def _without(term: Expression, copies: tuple[Leaf, ...]) -> Expression:
    if not copies:
        return term
    if isinstance(term, Sum):
        return Sum(tuple(_without(inner, copies) for inner in term.terms))
    factors = list(term.factors) if isinstance(term, Product) else [term]
    for leaf in copies:
        factors.remove(leaf)
    if not factors:
        return Leaf(1)
    return factors[0] if len(factors) == 1 else Product(tuple(factors))


def _grouped(terms: tuple[Expression, ...], names: bool) -> list[str]:
    """`q + k + v` of one size reads `heads × 3 × (…)`: the copies, how often, then what is repeated."""
    times: dict[tuple[str, str, str], int] = {}
    for term in terms:
        copies = _copies(term)
        front = "".join(f"{leaf.text(names)} × " for leaf in copies)
        body = _term(_without(term, copies), names, alone=len(terms) == 1)
        key = (front, body, term.text(names=False))  # two things of one name may have two sizes
        times[key] = times.get(key, 0) + 1
    return [front + (f"{n} × {body}" if n > 1 else body) for (front, body, _), n in times.items()]


def _term(body: Expression, names: bool, *, alone: bool) -> str:
    """Sums within a sum are bracketed, so that each layer stays one group."""
    grouped = isinstance(body, Sum) or (isinstance(body, Infix) and body.symbol == "−")
    return f"({body.text(names)})" if grouped and not alone else body.text(names)


class Count(int):
    expression: Expression

    def __new__(cls, value: int, expression: Expression | None = None) -> Count:
        if expression is None and type(value) is cls:
            return value
        if not isinstance(value, int) or isinstance(value, bool):  # numpy's integers overflow without a word
            raise TypeError(f"a count is an exact int, not {type(value).__name__}")
        count = super().__new__(cls, value)
        count.expression = expression or getattr(value, "expression", None) or Leaf(int(value))
        return count

    @classmethod
    def named(cls, name: str, value: int, *, copies: bool = False, subtotal: bool = False) -> Count:
        return cls(value, Leaf(int(value), name, copies, subtotal))

    def worked(self, *, names: bool = False) -> str:
        """The working: `4 × 3 × (1024 × 192 + 192)`, or with `names` `heads × 3 × (d_model × head_dim + head_dim)`."""
        return self.expression.text(names)

    def __add__(self, other: int) -> Count:
        if not isinstance(other, int):
            return NotImplemented
        if other == 0:
            return self
        return _joined(self, other) if self else Count(other)

    def __radd__(self, other: int) -> Count:
        return Count(other) + self

    def __mul__(self, other: int) -> Count:
        if not isinstance(other, int):
            return NotImplemented
        if other == 1:
            return self
        other = Count(other)
        return other if self == 1 else Count(int(self) * int(other), Product(_factors(self) + _factors(other)))

    def __rmul__(self, other: int) -> Count:
        return Count(other) * self

    def __sub__(self, other: int) -> Count:
        return self._infix("−", other, int.__sub__)

    def __rsub__(self, other: int) -> Count:
        return Count(other) - self

    def __floordiv__(self, other: int) -> Count:
        return self._infix("//", other, int.__floordiv__)

    def __rfloordiv__(self, other: int) -> Count:
        return Count(other) // self

    def __pow__(self, other: int, modulus: None = None) -> Count:  # type: ignore[override]
        return self._infix("**", other, int.__pow__)

    def _infix(self, symbol: str, other: int, result: Any) -> Count:
        if not isinstance(other, int):
            return NotImplemented
        right = Count(other)
        return Count(result(int(self), int(right)), Infix(self.expression, symbol, right.expression))

    def __reduce__(self) -> tuple[type[Count], tuple[int, Expression]]:
        return Count, (int(self), self.expression)

    def __round__(self, ndigits: SupportsIndex = 0) -> int:
        return round(int(self), ndigits)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        made = core_schema.no_info_after_validator_function(cls, core_schema.int_schema(strict=True))
        return core_schema.union_schema(
            [core_schema.is_instance_schema(cls), made],
            serialization=core_schema.plain_serializer_function_ser_schema(int),
        )


def _factors(count: Count) -> tuple[Expression, ...]:
    return count.expression.factors if isinstance(count.expression, Product) else (count.expression,)


def _joined(left: Count, right: int) -> Count:
    """One flat sum: adding to a sum adds a term to it."""
    terms = tuple(
        term
        for count in (left, Count(right))
        for term in (count.expression.terms if isinstance(count.expression, Sum) else (count.expression,))
    )
    return Count(int(left) + int(right), Sum(terms))


def product(sizes: Iterable[int]) -> Count:
    """The product of all sizes, 1 for none; the same Count as repeated `*`, without the intermediate Counts."""
    counts = [Count(size) for size in sizes if size != 1]
    if len(counts) < 2:
        return counts[0] if counts else Count(1)
    factors = tuple(factor for count in counts for factor in _factors(count))
    return Count(prod(map(int, counts)), Product(factors))


def total(counts: Iterable[int]) -> Count:
    """Their sum, each one a group: `(1024 × 512 + 512) + (512 × 1024 + 1024)`. Zeros are left out."""
    groups = [Count(count) for count in counts if count]
    if len(groups) == 1:
        return groups[0]
    value = sum(int(count) for count in groups)
    return Count(value, Sum(tuple(count.expression for count in groups)) if groups else Leaf(0))
