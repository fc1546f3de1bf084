"""Shaw's relative positions: a vector for each clipped distance, added to keys and values; the computation is in
`archcalc.layers.attention_core`."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.transformer.positions.encoding import Encoding, Places, Reader
from archcalc.core.errors import InputError
from archcalc.core.ir import Module, Tensor
from archcalc.layers.attention import Attention, Heads
from archcalc.layers.attention_core import relative_vectors, with_relative
from archcalc.layers.attention_inputs import Inputs
from archcalc.spec.node import Size, field

WORD = "shaw"


class Shaw(Encoding):
    on_scores: ClassVar[bool] = True
    needs: ClassVar[dict[str, int]] = {"distance": 16}
    distance: Size | None = field(
        None,
        "Shaw's relative positions: the largest distance with a vector of its own, to each side.",
        example=16,
        unset="needed by shaw",
    )
    values: bool = field(
        True, "Shaw's relative positions have vectors for values too, not for keys alone.", example=False
    )

    def check_layer(self, layer: Heads, at: Places) -> None:
        if isinstance(layer, Attention) and layer.routed:
            hint = "leave experts out, or use `position: relative`"
            raise InputError("attention of experts has no Shaw positions", hint, fields=at("experts"))

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        assert self.distance
        places, distance = (reader.x.dims[1], reader.past), self.distance
        distances = reader.context.constant(f"distances up to {distance}", "index", *places)
        inputs = inputs._replace(score_bias=lambda m, q, k: self._scores(m, q, distances))
        if not self.values:
            return inputs
        vectors = relative_vectors
        return inputs._replace(value_vectors=lambda m, width: vectors(m["relative_values"], distances, distance, width))

    def _scores(self, m: Module, q: Tensor, distances: Tensor) -> Tensor:
        """Queries with a vector for each clipped distance."""
        assert self.distance
        vectors = relative_vectors(m["relative_keys"], distances, self.distance, q.dims[-1])
        return m.record("scale", with_relative(m, q, vectors, q.dims[-1]))


ENCODING = Shaw
