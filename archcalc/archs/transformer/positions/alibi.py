"""ALiBi: a bias on the scores, by a fixed slope for each head times the distance (Press et al. 2021)."""

from __future__ import annotations

from typing import ClassVar

from archcalc.archs.transformer.positions.encoding import Encoding, Reader
from archcalc.core.ir import Module, Tensor, axes
from archcalc.layers.attention_inputs import Inputs
from archcalc.layers.dims import heads_of

WORD = "alibi"


class Alibi(Encoding):
    on_scores: ClassVar[bool] = True

    def given_to(self, reader: Reader, inputs: Inputs) -> Inputs:
        """A flash kernel computes the bias itself."""
        if inputs.work.attention == "flash":
            return inputs._replace(alibi=True)
        return inputs._replace(alibi=True, score_bias=lambda m, q, k: self._bias(m, reader))

    def _bias(self, m: Module, reader: Reader) -> Tensor:
        """Computed from the distance: nothing is learned."""
        heads = reader.layer.heads
        shape = heads_of(heads), reader.x.dims[1], reader.past
        m.record("show", to=axes(*shape), name="alibi", note="−slope × distance, on scores")
        return reader.context.constant(f"alibi of {heads} heads", "act", *shape)


ENCODING = Alibi
