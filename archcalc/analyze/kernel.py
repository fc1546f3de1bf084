"""Softmax attention compared with kernel attention: the cost of each, and the length from which a kernel is cheaper.

Each is traced with the code that builds models, and its matrix products are read from the trace: of the dims that a
product meets, those along the sequence give the power of N, the others the factor in front of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar

from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.parts.part import Context
from archcalc.archs.transformer.resolve import Transformer
from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.count import Count, product
from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Op, Param, Tensor, axes, walk
from archcalc.layers.dims import sequence_of
from archcalc.layers.kernel import FEATURES, NORMALISER, feature_width
from archcalc.report.base import SCHEMA_VERSION, Column, Flag, Line, Report, Table
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterator

ON_SCORES = ("alibi", "relative", "disentangled")  # position encodings that are added to scores

CONVENTIONS = (
    Assumption(
        Topic.COST,
        "matrix products, two for each multiply-add; the normaliser's apart; softmax, feature maps and divisions are "
        "elementwise and not counted",
    ),
    Assumption(
        Topic.TABLE,
        "C features: (D + 1)(D + 2) / 2 of a head of D numbers for poly2, (q·k + 1)²; D for elu(x) + 1 and relu",
    ),
    Assumption(
        Topic.TABLE,
        "from N: the first length at which it costs less than softmax; half: less than half of softmax, "
        "the cost where the masked half of causal attention is skipped",
    ),
)


@dataclass(frozen=True)
class Cost:
    """Matrix products of one kind of attention: 2 × N^power × the sum of `factors`."""

    power: int
    factors: tuple[Count, ...]

    def at(self, length: int) -> int:
        return int(2 * Count(length) ** self.power * sum(self.factors))

    def worked(self) -> str:
        """`2 × N² × (64 + 64)`."""
        return f"2 × N{'²' if self.power > 1 else ''} × {self.sum()}"

    def sum(self) -> str:
        terms = " + ".join(factor.worked() for factor in self.factors)
        return f"({terms})" if len(self.factors) > 1 else terms


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

    def cheaper_from(self, *, causal_half: bool = False, with_normaliser: bool = False) -> int | None:
        """The first length at which the products cost less than softmax attention's, or than half of them."""
        if self.limit is None or self.normaliser is None:
            return None
        more = Fraction(sum(self.normaliser.factors), sum(self.products.factors)) if with_normaliser else 0
        return int(self.limit * (1 + more) * (2 if causal_half else 1)) + 1


@dataclass(frozen=True)
class KernelReport(Report):
    """The comparison, attention by attention."""

    command: ClassVar[str] = "kernel"
    rows: tuple[Row, ...]

    def answer(self) -> str:
        row = next((row for row in self.rows if row.used and row.limit is not None), self.rows[1])
        limit, first = _number(row.limit), row.cheaper_from()
        return f"{row.feature} is cheaper than softmax for N > {limit}: from {first:,} positions on"

    def table(self) -> Table:
        labels = ("C", "FLOPs", "normaliser", "from N", "from N, half")
        return Table((Column("attention", "name"), *(Column(label, "count") for label in labels)), tuple(self._lines()))

    def _lines(self) -> list[Line]:
        lines: list[Line] = []
        for attention, rows in groupby(self.rows, key=lambda row: row.attention):
            lines.append(Line((attention, None, None, None, None, None), heading=True))
            lines += [_line(row) for row in rows]
        return lines

    def record(self) -> dict[str, Any]:
        return {
            "schema_version": SCHEMA_VERSION,
            "model": self.model,
            "assumptions": self.assumed(),
            "rows": [_record(row) for row in self.rows],
        }


def _line(row: Row) -> Line:
    normaliser = row.normaliser.at(row.length) if row.normaliser else None
    costs = (row.features, row.products.at(row.length), normaliser)
    flag: Flag = "used" if row.used else ""
    cells = (row.feature, *costs, row.cheaper_from(), row.cheaper_from(causal_half=True))
    return Line(cells, 1, _worked(row), flag=flag)


def _worked(row: Row) -> str:
    if row.limit is None:
        return row.products.worked()
    return f"{row.products.worked()}, less than softmax for N > {_number(row.limit)}"


def _number(limit: Fraction | None) -> str:
    """A whole number as it is, any other as a whole number and a fraction."""
    whole, rest = divmod(limit or Fraction(0), 1)
    return f"{whole:,} {rest}" if rest else f"{whole:,}"


def _record(row: Row) -> dict[str, Any]:
    normaliser = row.normaliser.at(row.length) if row.normaliser else 0
    return {
        "attention": row.attention,
        "feature": row.feature,
        "used": row.used,
        "heads": row.heads,
        "features": row.features,
        "length": row.length,
        "flops": row.products.at(row.length),
        "normaliser_flops": normaliser,
        "worked": row.products.worked(),
        "cheaper_above": float(row.limit) if row.limit is not None else None,
        "cheaper_from": row.cheaper_from(),
        "cheaper_from_causal_half": row.cheaper_from(causal_half=True),
        "cheaper_from_with_normaliser": row.cheaper_from(with_normaliser=True),
    }


@dataclass(frozen=True)
class Place:
    """An attention of the model, and the length it is asked at."""

    name: str
    part: AttentionPart
    length: int

    @property
    def sizes(self) -> tuple[Any, ...]:
        """What its cost depends on."""
        widths = self.part.head_dim, self.part.v_dim or self.part.head_dim
        return self.part.heads // self.part.kv_heads, *widths, self.part.feature, self.length

    @property
    def added(self) -> list[str]:
        """Position encodings that softmax attention adds to its scores: a kernel has none to add to."""
        return [position.kind for position in self.part.positions if position.kind in ON_SCORES]


def kernel(model: Any, work: Workload, *, title: str) -> KernelReport:
    """Every attention of the model with each feature map; attentions with equal costs share a row."""
    if not isinstance(model, Transformer):
        raise InputError("kernel attention is for Transformers", "choose one of that family")
    places = list(_places(model, work))
    if not places:
        raise InputError(
            "no block has softmax attention that a kernel could replace", "choose a model with plain attention"
        )
    alike: dict[tuple[Any, ...], list[Place]] = {}
    for place in places:
        alike.setdefault(place.sizes, []).append(place)
    rows = tuple(row for group in alike.values() for row in _rows(group))
    return KernelReport(model=title, assumptions=tuple(_assumptions(rows, work, places)), rows=rows)


def _places(model: Transformer, work: Workload) -> Iterator[Place]:
    for stack, length in zip(model.stacks, work.lengths.values(), strict=True):
        for part in stack.parts.values():
            if isinstance(part, AttentionPart):
                yield Place(f"{stack.name} {part.name}", part, length)


def _assumptions(rows: tuple[Row, ...], work: Workload, places: list[Place]) -> Iterator[Assumption]:
    narrow = any(place.part.sight.window or place.part.sight.chunk for place in places)
    added = " and ".join(dict.fromkeys(kind for place in places for kind in place.added))
    lengths = " and ".join(f"{length:,}" for length in dict.fromkeys(row.length for row in rows))
    group = "one head" if all(row.heads == 1 for row in rows) else "the heads that share one key-value head"
    text = f"FLOPs of {group} at N = {lengths}, queries and keys alike; every figure is exact"
    yield Assumption(Topic.EXACTNESS, text)
    yield from CONVENTIONS
    if narrow:
        yield Assumption(Topic.ATTENTION, "softmax over all positions: sliding windows and chunks are ignored")
    if added:
        text = f"without {added} positions, which are added to softmax scores: kernel attention has no scores"
        yield Assumption(Topic.ATTENTION, text, added)
    yield from without(work.assumptions, Topic.BATCH)


def _rows(alike: list[Place]) -> list[Row]:
    part, length = alike[0].part, alike[0].length
    costs = {feature: _costs(part, feature, Workload(1, {"seq": length})) for feature in FEATURES}
    softmax, _ = costs["softmax"]
    return [
        Row(
            attention=", ".join(place.name for place in alike),
            feature=feature,
            used=feature == part.feature,
            heads=part.heads // part.kv_heads,
            features=_features(feature, part),
            length=length,
            products=products,
            normaliser=normaliser,
            limit=None if feature == "softmax" else Fraction(sum(products.factors), sum(softmax.factors)),
        )
        for feature, (products, normaliser) in costs.items()
    ]


def _features(feature: str, part: AttentionPart) -> int | None:
    """Softmax has no feature map."""
    return None if feature == "softmax" else feature_width(feature, part.head_dim)


def _costs(part: AttentionPart, feature: str, work: Workload) -> tuple[Cost, Cost | None]:
    """The matrix products of a key-value head and the queries that share it, without and of the normaliser."""
    products = [op for op in _traced(part, feature, work) if op.traits.matrix]
    between = [op for op in products if not any(isinstance(tensor, Param) for tensor in op.inputs)]
    normalising = [op for op in between if op.name == NORMALISER]
    return _cost([op for op in between if op.name != NORMALISER]), _cost(normalising) if normalising else None


def _traced(part: AttentionPart, feature: str, work: Workload) -> Iterator[Op]:
    """The ops of one key-value head's attention, without position encodings: most add no products, and a kernel has
    no scores that the others could be added to."""
    group = part.heads // part.kv_heads
    alone = replace(part, feature=feature, heads=group, kv_heads=1, positions=(), rotated=0, cross=False)
    m, sequences = Module("attention"), [sequence_of(name, length) for name, length in work.lengths.items()]
    read = axes(Dim.of("batch", work.batch), *sequences, Dim.of("d_model", group * part.head_dim))
    alone.run(m, Tensor(read), Context(work))
    return (op for module, _ in walk(m) for op in module.ops)


def _cost(ops: list[Op]) -> Cost:
    (power,) = {sum(dim.positions is not None for dim in _met(op)) for op in ops}
    return Cost(power, tuple(product(dim.size for dim in _met(op) if dim.positions is None) for op in ops))


def _met(op: Op) -> list[Dim]:
    return list({dim.name: dim for tensor in op.inputs for dim in tensor.dims}.values())
