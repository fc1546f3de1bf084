"""Every attention of a model with each feature map, beside softmax."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from archcalc.analyze.kernel.report import Held, KernelReport, Row, measured
from archcalc.archs.transformer.parts.attention_part import AttentionPart
from archcalc.archs.transformer.resolve import Transformer
from archcalc.core.assumptions import Assumption, Topic, without
from archcalc.core.errors import InputError
from archcalc.core.precision import BYTES
from archcalc.layers.attention import FEATURES, SOFTMAX, Heads
from archcalc.layers.kernel import feature_width

if TYPE_CHECKING:
    from collections.abc import Iterator

    from archcalc.spec.workload import Workload

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
WRITTEN_OUT = Assumption(
    Topic.TABLE,
    "memory: queries, keys, values and every matrix that a product reads or makes (scores and softmax weights, or "
    "features and their sums), each stored once, as without a fused kernel; flash attention stores no scores, and a "
    "fused causal kernel no features",
)
COPIED = Assumption(Topic.TABLE, "memory: keys and values, or sums, are copied for every head that shares them")
CACHED = Assumption(
    Topic.STATE,
    "cache: what a decoder keeps of N tokens for the next one: their keys and values, or the sums of features, C × M "
    "and C elements at any N; an encoder keeps none",
)


@dataclass(frozen=True)
class Place:
    """An attention of the model, and the length it is asked at."""

    name: str
    part: AttentionPart
    length: int

    @property
    def layer(self) -> Heads:
        return self.part.layer

    @property
    def sizes(self) -> tuple[Any, ...]:
        """What its cost depends on."""
        widths = self.layer.head_dim, self.layer.v_dim or self.layer.head_dim
        return self.layer.heads // self.layer.kv_heads, *widths, self.layer.feature, self.length

    @property
    def is_cached(self) -> bool:
        """An encoder reads everything at once, and keeps nothing."""
        return self.layer.sight.causal or self.layer.cross


def kernel(
    model: Any, work: Workload, *, title: str, precision: str | None = None, v_dim: int | None = None
) -> KernelReport:
    """Every attention of the model with each feature map; attentions with equal costs share a row.

    `v_dim` is another width for the values of all of them.
    """
    if not isinstance(model, Transformer):
        raise InputError("kernel attention is for Transformers", "choose one of that family")
    places = []
    for stack, length in zip(model.stacks, work.lengths.values(), strict=True):
        for part in (each for each in stack.parts.values() if isinstance(each, AttentionPart)):
            layer = replace(part.layer, v_dim=v_dim or part.layer.v_dim)
            places.append(Place(f"{stack.name} {part.name}", replace(part, layer=layer), length))
    if not places:
        fact = "no block has softmax attention that a kernel could replace"
        raise InputError(fact, "choose a model with plain attention")
    alike: dict[tuple[Any, ...], list[Place]] = {}
    for place in places:
        alike.setdefault(place.sizes, []).append(place)
    number = precision or "fp32"
    rows = tuple(row for group in alike.values() for row in _rows(group, BYTES[number]))
    title = f"{title}, values of {v_dim}" if v_dim else title
    return KernelReport(model=title, assumptions=tuple(_assumptions(rows, work, places, number)), rows=rows)


def _assumptions(rows: tuple[Row, ...], work: Workload, places: list[Place], precision: str) -> Iterator[Assumption]:
    sights = [place.layer.sight for place in places]
    # Position encodings that softmax attention adds to its scores: a kernel has none to add to.
    positions = [position for place in places for position in place.part.positions if position.on_scores]
    added = " and ".join(dict.fromkeys(position.kind for position in positions))
    lengths = " and ".join(f"{length:,}" for length in dict.fromkeys(row.length for row in rows))
    group = "one head" if all(row.heads == 1 for row in rows) else "the heads that share one key-value head"
    text = f"{group} at N = {lengths}, queries and keys alike; every figure is exact"
    yield Assumption(Topic.EXACTNESS, text)
    yield from CONVENTIONS
    yield WRITTEN_OUT
    if any(row.heads > 1 for row in rows):
        yield COPIED
    if any(place.is_cached for place in places):
        yield CACHED
    yield Assumption(Topic.PRECISION, f"{BYTES[precision]} bytes for each element in {precision}", precision)
    if any(sight.window or sight.chunk for sight in sights):
        yield Assumption(Topic.ATTENTION, "softmax over all positions: sliding windows and chunks are ignored")
    if any(sight.memory for sight in sights):
        yield Assumption(Topic.ATTENTION, "the memory of earlier segments is ignored: N queries look at N keys")
    if added:
        text = f"without {added} positions, which are added to softmax scores: kernel attention has no scores"
        yield Assumption(Topic.SCOPE, text, added)
    yield from without(work.assumptions, Topic.BATCH)


def _rows(alike: list[Place], width: int) -> Iterator[Row]:
    layer, length = alike[0].layer, alike[0].length
    found = {feature: measured(layer, feature, length) for feature in FEATURES}
    softmax, is_cached = found[SOFTMAX], any(place.is_cached for place in alike)
    for feature, one in found.items():
        row = Row(
            attention=", ".join(place.name for place in alike),
            feature=feature,
            used=feature == layer.feature,
            heads=layer.heads // layer.kv_heads,
            features=None,
            length=length,
            products=one.products,
            normaliser=one.normaliser,
            limit=None,
            memory=Held(one.memory, length, width, one.memory.less_from(softmax.memory)),
            cache=Held(one.cache, length, width, one.cache.less_from(softmax.cache)) if is_cached else None,
        )
        if feature != SOFTMAX:  # the length from which on its products cost less than softmax attention's
            limit = Fraction(sum(one.products.factors), sum(softmax.products.factors))
            row = replace(row, features=feature_width(feature, layer.head_dim), limit=limit)
        yield row
