"""Sinusoids added to the embedding: computed, kept as a table, or stored (Vaswani et al. 2017)."""

from __future__ import annotations

from typing import ClassVar, Self

from archcalc.archs.transformer.positions.encoding import Site, Stored
from archcalc.core.ir import Module, Tensor
from archcalc.layers.embedding import add_sinusoids
from archcalc.layers.patches import Patches

WORD = "sinusoidal"


class Sinusoidal(Stored):
    on_embedding: ClassVar[bool] = True

    def on_image(self, patches: Patches, site: Site) -> Self:
        """A table of it has a row for each position of the image."""
        return self.with_rows(patches, site.of_stack) if self.stored or self.length else self

    def check(self, site: Site) -> None:
        super().check(site)
        if not self.stored:
            self.check_pairs(site)

    def add_to(self, m: Module, x: Tensor, patches: Patches | None) -> Tensor:
        return add_sinusoids(m["positions"], x, self.length, stored=self.stored)


ENCODING = Sinusoidal
