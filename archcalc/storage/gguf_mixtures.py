"""Mixtures of formats: which layers of which models a GGUF file stores in another format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from archcalc.storage.layer_numbers import LayerNumbers
from archcalc.storage.places import Facts

THIRD = 3


@dataclass(frozen=True)
class Rule:
    """Matrices of all layers, some layers (`where`), or some models (`when`)."""

    roles: tuple[str, ...]
    where: str = ""
    when: tuple[str, ...] = ()

    def holds(self, roles: set[str], layer: int, depth: int, model: Facts) -> bool:
        here = not roles.isdisjoint(self.roles) and self._in(layer, depth)
        return here and all(CONDITIONS[word](model, depth) for word in self.when)

    def _in(self, layer: int, depth: int) -> bool:
        """`first 2`, `first 1/8`, `middle` (without the first and the last eighth), or `more`, as llama.cpp spends more
        bits on the first and the last eighth and on every third between."""
        bounds = self.bounds(depth)
        if self.where == "more":
            return layer < bounds[0] or layer >= bounds[1] or (layer - bounds[0]) % THIRD == THIRD - 1
        if self.where == "middle":
            return bounds[0] <= layer < bounds[1]
        return not bounds or layer < bounds[0]

    def bounds(self, depth: int) -> tuple[int, ...]:
        """The layers before which the rule may change, but for every third."""
        if self.where in ("more", "middle"):
            return depth // 8, 7 * depth // 8
        if not self.where.startswith("first "):
            return ()
        share = Fraction(self.where.removeprefix("first "))
        return (int(share) if share >= 1 else int(depth * share),)


def alike(layers: LayerNumbers, rules: Iterable[Rule], depth: int) -> Iterator[LayerNumbers]:
    """The layers in groups that no rule tells apart, so that a group costs as much as a layer."""
    bounds = sorted({0, layers.end, *(bound for rule in rules for bound in rule.bounds(depth))})
    parts = (layers.between(*ends) for ends in pairwise(bounds))
    groups = (part.every(THIRD, remainder) for part in parts for remainder in range(THIRD))
    return (group for group in groups if group)


CONDITIONS = {  # of llama.cpp: n_gqa, n_expert and, for the last, the 80 layers by which it knows a 70B
    "grouped": lambda model, depth: model.grouping >= 4,
    "several experts": lambda model, depth: model.experts >= 4,
    "8 experts": lambda model, depth: model.experts == 8,
    "70B": lambda model, depth: depth == 80 and model.grouping > 1,
}
