"""The comparison of softmax attention with kernel attention, as tables and as a record.

What attention costs is a function of the sequence length N: FLOPs of its matrix products, and elements in memory. Each
attention is traced with the code that builds models. Of the dims that a product meets, or that a tensor has, those
along the sequence give the power of N, the others the factor in front of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import isqrt
from typing import Any, ClassVar

from archcalc.archs.transformer.context import Context
from archcalc.core.count import Count, product
from archcalc.core.ir import Dim, Module, Op, Param, Region, Tensor, axes, walk
from archcalc.core.tree import ops_in, read_from_outside, signals_of
from archcalc.layers.attention import SOFTMAX, Attention, Heads
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.attention_mask import Sight
from archcalc.layers.dims import sequence_of
from archcalc.layers.kernel import NORMALISER, KernelAttention
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Table, cells_of, heading, in_tables, keys
from archcalc.spec.workload import Workload


@dataclass(frozen=True)
class Held:
    """Elements in memory, and from which length on there are fewer of them than with softmax."""

    elements: Elements
    length: int
    width: int  # bytes of an element
    less_from: int | None

    @property
    def number(self) -> int:
        return self.elements.at(self.length)

    @property
    def bytes(self) -> int:
        return self.number * self.width


@dataclass(frozen=True)
class Row:
    """One feature map in one attention, beside softmax there; all costs are exact FLOPs of matrix products."""

    attention: str
    feature: str
    used: bool  # by the model as it is
    heads: int  # that share a key-value head: what is costed
    features: int | None
    length: int
    products: Cost
    normaliser: Cost | None
    limit: Fraction | None  # cheaper than softmax for N > limit
    memory: Held
    cache: Held | None  # None where nothing is decoded

    def cheaper_from(self, *, causal_half: bool = False, with_normaliser: bool = False) -> int | None:
        """The first length at which the products cost less than softmax attention's, or than half of them."""
        if self.limit is None or self.normaliser is None:
            return None
        more = Fraction(sum(self.normaliser.factors), sum(self.products.factors)) if with_normaliser else 0
        return int(self.limit * (1 + more) * (2 if causal_half else 1)) + 1

    @property
    def flops(self) -> int:
        return self.products.at(self.length)

    @property
    def normaliser_flops(self) -> int | None:
        return self.normaliser.at(self.length) if self.normaliser else None


@dataclass(frozen=True)
class KernelReport(Report):
    """The comparison, attention by attention."""

    command: ClassVar[str] = "kernel"
    rows: tuple[Row, ...]

    def answer(self) -> str:
        row = next((row for row in self.rows if row.used and row.limit is not None), self.rows[1])
        limit, first = _number(row.limit), row.cheaper_from()
        return f"{row.feature} is cheaper than softmax for N > {limit}: from {first:,} positions on"

    def columns(self) -> tuple[Column[Row], ...]:
        return (
            Column("attention"),
            Column("feature", "attention", "name"),
            *keys("used", "heads"),
            Column("features", "C", "count"),
            Column("length"),
            Column("flops", "FLOPs", "count"),
            Column("normaliser_flops", get=lambda row: row.normaliser_flops or 0),
            Column("", "normaliser", "count", "normaliser_flops"),
            Column("worked", get=lambda row: row.products.worked()),
            Column("cheaper_above", get=lambda row: None if row.limit is None else float(row.limit)),
            Column("cheaper_from", "from N", "count", Row.cheaper_from),
            Column("cheaper_from_causal_half", "from N, half", "count", lambda row: row.cheaper_from(causal_half=True)),
            Column("cheaper_from_with_normaliser", get=lambda row: row.cheaper_from(with_normaliser=True)),
        )

    def records(self) -> list[dict[str, Any]]:
        rows = zip(super().records(), self.rows, strict=True)
        return [{**record, **_held("memory", row.memory), **_held("cache", row.cache)} for record, row in rows]

    def table(self) -> Table:
        return self._under_headings(in_tables(self.columns()), _costs)

    def more(self) -> tuple[Table, ...]:
        return (self._under_headings(MEMORY, _elements),)

    def _under_headings(self, columns: tuple[Column[Row], ...], worked: Callable[[Row], str]) -> Table:
        """The rows of each attention under its name."""
        lines: list[Line] = []
        for attention, rows in groupby(self.rows, key=lambda row: row.attention):
            lines.append(heading(attention, columns))
            for row in rows:
                lines.append(Line(cells_of(columns, row), 1, worked(row), flag="used" if row.used else ""))
        return Table(columns, tuple(lines))

    def facts(self) -> dict[str, Any]:
        return {"model": self.model}


MEMORY: tuple[Column[Row], ...] = (
    Column("", "memory", "name", "feature"),
    Column("", "elements", "count", "memory.number"),
    Column("", "from N", "count", "memory.less_from"),
    Column("", "cache", "count", lambda row: row.cache and row.cache.number),
    Column("", "cache from N", "count", lambda row: row.cache and row.cache.less_from),
)


def _costs(row: Row) -> str:
    worked = row.products.worked()
    return worked if row.limit is None else f"{worked}, less than softmax for N > {_number(row.limit)}"


def _elements(row: Row) -> str:
    kept = f"; cache {row.cache.elements.worked()}" if row.cache else ""
    return row.memory.elements.worked() + kept


def _number(limit: Fraction | None) -> str:
    """A whole number as it is, any other as a whole number and a fraction."""
    whole, rest = divmod(limit or Fraction(0), 1)
    return f"{whole:,} {rest}" if rest else f"{whole:,}"


def _held(name: str, held: Held | None) -> dict[str, Any]:
    return {
        f"{name}_elements": held and held.number,
        f"{name}_bytes": held and held.bytes,
        f"{name}_worked": held and held.elements.worked(),
        f"{name}_less_from": held and held.less_from,
    }


@dataclass(frozen=True)
class Cost:
    """Matrix products of one kind of attention: 2 × N^power × the sum of `factors`."""

    power: int
    factors: tuple[Count, ...]

    def at(self, length: int) -> int:
        return int(2 * Count(length) ** self.power * sum(self.factors))

    def worked(self) -> str:
        """`2 × N² × (64 + 64)`."""
        terms = " + ".join(factor.worked() for factor in self.factors)
        summed = f"({terms})" if len(self.factors) > 1 else terms
        return f"2 × N{'²' if self.power > 1 else ''} × {summed}"


@dataclass(frozen=True)
class Elements:
    """Elements in memory: squared × N² + linear × N + fixed."""

    squared: int
    linear: int
    fixed: int

    @classmethod
    def of(cls, tensors: Iterable[Tensor]) -> Elements:
        by_power = [0, 0, 0]
        for tensor in tensors:
            by_power[_power(tensor.dims)] += int(_factor(tensor.dims))
        fixed, linear, squared = by_power
        return cls(squared, linear, fixed)

    def at(self, length: int) -> int:
        return self.squared * length**2 + self.linear * length + self.fixed

    def worked(self) -> str:
        """`2 × N² + 256 × N`."""
        powers = ((self.squared, " × N²"), (self.linear, " × N"), (self.fixed, ""))
        return " + ".join(f"{factor:,}{power}" for factor, power in powers if factor)

    def less_from(self, other: Elements) -> int | None:
        """The first length from which on this is less than the other, or None if there is none."""
        squared, linear, fixed = other.squared - self.squared, other.linear - self.linear, other.fixed - self.fixed
        if squared < 0 or (squared == 0 and linear <= 0):
            return None
        below = linear**2 - 4 * squared * fixed  # the discriminant: below 0, this is less at every length
        if squared and below < 0:
            return 1
        first = max((isqrt(below) - linear) // (2 * squared) if squared else -fixed // linear, 1)
        return first if self.at(first) < other.at(first) else first + 1


@dataclass(frozen=True)
class Measures:
    """One kind of attention: a key-value head, and the queries that share it."""

    products: Cost
    normaliser: Cost | None
    memory: Elements
    cache: Elements  # of N tokens, for the next one


def measured(layer: Heads, feature: str, length: int) -> Measures:
    root = _traced(layer, feature, Workload(1, {"seq": length}))
    prefill = _traced(layer, feature, Workload(1, {"seq": length}, mode="prefill"))
    # Matrix products of activations: those with weights are the same in both kinds.
    between = [op for op in ops_in(root) if not any(isinstance(tensor, Param) for tensor in op.inputs)]
    products = [op for op in between if op.traits.matrix]
    normalising = [op for op in products if op.name == NORMALISER]
    # In memory: queries, keys, values, and whatever a product reads or makes, each stored once.
    (core,) = (module for module, _ in walk(root) if module.region in (Region.CORE, Region.KERNEL))
    computed = signals_of(root)
    projected = [tensor for tensor in read_from_outside(core) if tensor.storage in computed]
    met = [tensor for op in products for tensor in (*op.inputs, op.output)]
    return Measures(
        products=_cost([op for op in products if op.name != NORMALISER]),
        normaliser=_cost(normalising) if normalising else None,
        memory=Elements.of({tensor.storage: tensor for tensor in (*projected, *met)}.values()),
        cache=Elements.of(op.output for op in ops_in(prefill) if op.output.role == "cache"),
    )


def _traced(layer: Heads, feature: str, work: Workload) -> Module:
    """One key-value head's attention over all positions, without position encodings: most add no products, and a kernel
    has no scores that the others could be added to."""
    group, sight = layer.heads // layer.kv_heads, Sight(layer.sight.causal)
    sizes = Heads(group, 1, layer.head_dim, layer.bias, layer.v_dim, sight=sight, feature=feature)
    alone = Attention(**vars(sizes)) if feature == SOFTMAX else KernelAttention(**vars(sizes))
    m, sequences = Module("attention"), [sequence_of(name, length) for name, length in work.lengths.items()]
    x = Tensor(axes(Dim.of("batch", work.batch), *sequences, Dim.of("d_model", group * layer.head_dim)))
    alone.run(m, x, Inputs(work, mask=Context(work).mask(x, sight)))
    return m


def _cost(ops: list[Op]) -> Cost:
    met = [tuple({dim.name: dim for tensor in op.inputs for dim in tensor.dims}.values()) for op in ops]
    (power,) = set(map(_power, met))
    return Cost(power, tuple(map(_factor, met)))


def _power(dims: tuple[Dim, ...]) -> int:
    return sum(dim.positions is not None for dim in dims)


def _factor(dims: tuple[Dim, ...]) -> Count:
    return product(dim.size for dim in dims if dim.positions is None)
