"""Count: an exact int that remembers how it was worked out.

    >>> d_model, head_dim = Count.named("d_model", 1024), Count.named("head_dim", 192)
    >>> one_head = d_model * head_dim + head_dim
    >>> one_head, one_head.worked(), one_head.worked(names=True)
    (196800, '1024 × 192 + 192', 'd_model × head_dim + head_dim')
    >>> one_head.at(d_model=2048)
    393408

A Count is an int wherever an int is wanted: it formats, compares, hashes and serialises as one. `+` joins terms into
one flat sum, while `total` keeps each term as a group of its own, the way a person brackets a sum of layers.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any, SupportsIndex

from archcalc.core.expression import (
    NAMES,
    NUMBERS,
    Expression,
    Infix,
    Leaf,
    Product,
    Sum,
    evaluated,
    shortened,
    written,
)


class Count(int):
    formula: Expression  # with every symbol that it depends on, also those that are 1 or 0 now
    is_plain: bool  # a number and no symbol, so that nothing depends on it

    def __new__(cls, value: int, formula: Expression | None = None) -> Count:
        if formula is None and type(value) is cls:
            return value
        if not isinstance(value, int) or isinstance(value, bool):  # numpy's integers overflow without a word
            raise TypeError(f"a count is an exact int, not {type(value).__name__}")
        count = super().__new__(cls, value)
        made = count.formula = formula or getattr(value, "formula", None) or Leaf(int(value))
        count.is_plain = isinstance(made, Leaf) and not made.name and made.source is None
        return count

    @property
    def expression(self) -> Expression:
        """The working as people write it: without factors of 1 and terms of 0."""
        return shortened(self.formula)

    @classmethod
    def named(
        cls, name: str, value: int, *, copies: bool = False, subtotal: bool = False, source: Expression | None = None
    ) -> Count:
        """A size that has a name; `source` says what it follows from, where it is no size that people choose."""
        return cls(value, Leaf(int(value), name, copies, subtotal, source))

    def at(self, **sizes: int) -> int:
        """The count at other sizes: `flops.at(batch=8, seq=4096)`."""
        return evaluated(self.formula, sizes)

    def at_most(self, other: int) -> Count:
        """The smaller of both, under this one's name where that is smaller: what a window leaves of a sequence."""
        bound = Count(other)
        found = min(self, bound)
        named = found.formula if isinstance(found.formula, Leaf) else Leaf(int(found))
        return Count(int(found), named._replace(source=Infix(self.formula, "min", bound.formula)))

    def worked(self, *, names: bool = False) -> str:
        """The working: `4 × 3 × (1024 × 192 + 192)`, or with `names` `heads × 3 × (d_model × head_dim + head_dim)`."""
        return written(self.expression, NAMES if names else NUMBERS)

    def __add__(self, other: int) -> Count:
        """One flat sum: adding to a sum adds a term to it."""
        if not isinstance(other, int):
            return NotImplemented
        right = Count(other)
        if other == 0 and right.is_plain:
            return self
        if self == 0 and self.is_plain:
            return right
        sums = (count.formula for count in (self, right))
        terms = tuple(term for each in sums for term in (each.terms if isinstance(each, Sum) else (each,)))
        return _worked_out(int(self) + int(right), Sum(terms))

    def __radd__(self, other: int) -> Count:
        return Count(other) + self

    def __mul__(self, other: int) -> Count:
        return product((self, other)) if isinstance(other, int) else NotImplemented

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
        return Count(result(int(self), int(right)), Infix(self.formula, symbol, right.formula))

    def __reduce__(self) -> tuple[type[Count], tuple[int, Expression]]:
        return Count, (int(self), self.formula)

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


def product(sizes: Iterable[int]) -> Count:
    """The product of all sizes, 1 for none; the same Count as repeated `*`, without the intermediate Counts."""
    known = [size if type(size) is Count else Count(size) for size in sizes]  # which no call tells faster
    counts = [count for count in known if count != 1 or not count.is_plain]
    if len(counts) < 2:
        return counts[0] if counts else ONE
    factors: list[Expression] = []
    for count in counts:
        factors += count.formula.factors if isinstance(count.formula, Product) else (count.formula,)
    return _worked_out(prod(map(int, counts)), Product(tuple(factors)))


def _worked_out(value: int, formula: Product | Sum) -> Count:
    """Without the checks of numbers that come from elsewhere: a model has thousands of products."""
    count = int.__new__(Count, value)
    count.formula, count.is_plain = formula, False
    return count


ONE = Count(1)


def total(counts: Iterable[int]) -> Count:
    """Their sum, each one a group: `(1024 × 512 + 512) + (512 × 1024 + 1024)`. Zeros are left out."""
    known = [count if type(count) is Count else Count(count) for count in counts]
    groups = [count for count in known if count or not count.is_plain]
    if len(groups) == 1:
        return groups[0]
    value = sum(int(count) for count in groups)
    return Count(value, Sum(tuple(count.formula for count in groups)) if groups else Leaf(0))
