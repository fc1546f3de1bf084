"""Mixtures of formats: which layers of which models a GGUF file stores in another format."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from archcalc.storage.places import Facts

if TYPE_CHECKING:
    from archcalc.storage.format import Format


@dataclass(frozen=True)
class Other:
    """Matrices stored in another format: in all layers, some layers (`where`), or some models (`when`)."""

    roles: tuple[str, ...]
    format: Format
    where: str = ""
    when: tuple[str, ...] = ()

    def holds(self, roles: set[str], layer: int, depth: int, model: Facts) -> bool:
        here = not roles.isdisjoint(self.roles) and self._in(layer, depth)
        return here and all(CONDITIONS[word](model, depth) for word in self.when)

    def _in(self, layer: int, depth: int) -> bool:
        """`first 2`, `first 1/8`, `middle` (without the first and the last eighth), or `more`, as llama.cpp spends more
        bits on the first and the last eighth and on every third between."""
        eighth, last = depth // 8, 7 * depth // 8
        if self.where == "more":
            return layer < eighth or layer >= last or (layer - eighth) % 3 == 2
        if self.where == "middle":
            return eighth <= layer < last
        if self.where.startswith("first "):
            share = Fraction(self.where.removeprefix("first "))
            return layer < (int(share) if share >= 1 else int(depth * share))
        return True


CONDITIONS = {  # of llama.cpp: n_gqa, n_expert and, for the last, the 80 layers by which it knows a 70B
    "grouped": lambda model, depth: model.grouping >= 4,
    "several experts": lambda model, depth: model.experts >= 4,
    "8 experts": lambda model, depth: model.experts == 8,
    "70B": lambda model, depth: depth == 80 and model.grouping > 1,
}
