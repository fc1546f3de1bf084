"""Sinusoids added to the embedding: computed, kept as a table, or stored (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import ClassVar, Self

from archcalc.archs.transformer.positions.encoding import Site, Stored
from archcalc.core.errors import Path
from archcalc.core.ir import Module, Tensor
from archcalc.layers.embedding import add_sinusoids
from archcalc.layers.patches import Patches

WORD = "sinusoidal"


class Sinusoidal(Stored):
    on_embedding: ClassVar[bool] = True

    def on_image(self, site: Site) -> Self:
        """A table of it has a row for each position of the image."""
        if not site.patches or not (self.stored or self.length):
            return self
        return self.with_rows(site.patches, site.of_stack)

    def check(self, d_model: int, at: list[Path]) -> None:
        super().check(d_model, at)
        if not self.stored:
            self.check_pairs(d_model, at)

    def add_to(self, m: Module, x: Tensor, patches: Patches | None) -> Tensor:
        return add_sinusoids(m["positions"], x, self.length, stored=self.stored)


ENCODING = Sinusoidal
