"""Sinusoids added to the embedding: computed, kept as a table, or stored (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import ClassVar, Self

from archcalc.archs.transformer.positions.encoding import Stored
from archcalc.core.errors import Path
from archcalc.core.ir import Module, Tensor
from archcalc.layers.embedding import add_sinusoids
from archcalc.layers.patches import Patches

WORD = "sinusoidal"


class Sinusoidal(Stored):
    on_embedding: ClassVar[bool] = True

    def on_image(self, patches: Patches | None, at: list[Path], table_at: list[Path]) -> Self:
        has_table = patches and (self.stored or self.length)
        return self.with_rows(patches, table_at) if patches and has_table else self

    def check(self, d_model: int, at: list[Path]) -> None:
        super().check(d_model, at)
        if not self.stored:
            self.check_pairs(d_model, at)

    def add_to(self, m: Module, x: Tensor, patches: Patches | None) -> Tensor:
        return add_sinusoids(m["positions"], x, self.length, stored=self.stored)


ENCODING = Sinusoidal
