"""Bytes of weights, caches and activations on one GPU, in the number formats of a run."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from archcalc.analyze.flops.share import Share
from archcalc.analyze.memory.decode_cache import grows
from archcalc.analyze.memory.states import Keeping
from archcalc.core.ir import Op, Param, Tensor, walk
from archcalc.core.precision import BYTES, Policy
from archcalc.run.lora import is_adapter
from archcalc.run.resolved import Run
from archcalc.storage.places import Place


@dataclass(frozen=True)
class NumberFormats:
    """`keeping` is how memory holds the weights of the same run."""

    share: Share
    run: Run
    keeping: Keeping

    @property
    def weights(self) -> str:
        """The name of the format that weights are read in."""
        is_cast = self.run.trains and not self.run.format.is_quantised
        return self.run.activations if is_cast else self.run.format.name

    def of_weight(self, param: Param, elements: int, reader: Op) -> Fraction:
        """As it is stored; in training, and for adapters, in the format that its reader computes in."""
        if is_adapter(param) or (self.run.trains and not self.keeping.quantised(param)):
            # Some recipes have a narrower format for matrix products.
            narrow = self.run.recipe.products if self.run.recipe and reader.traits.matrix else ""
            return Fraction(elements * BYTES[narrow or self.run.activations])
        held = self.share.elements(param)
        return self._stored[param] * elements / held if held else Fraction(0)  # a shared expert may have no width

    def of_cache(self, storage: Tensor, elements: int) -> Fraction:
        """Keys and values, or a recurrent state."""
        run = self.run
        keys = run.value_format if storage.of_values else run.kv_format
        stored = keys if grows(storage) else run.state_format
        return Fraction(stored.bytes_of(elements) if stored else elements * self._policy.bytes_of("cache"))

    def of_role(self, role: str, elements: int) -> Fraction:
        """Activations, masks, indices."""
        return Fraction(elements * self._policy.bytes_of(role))

    @cached_property
    def _policy(self) -> Policy:
        return Policy(self.run.activations)

    @cached_property
    def _stored(self) -> dict[Tensor, Fraction]:
        """Bytes of one copy of each parameter; layers may be stored in several formats, so this is their mean."""
        found = [(param, int(copies)) for module, copies in walk(self.share.root) for param in module.params.values()]
        size, weights = self.keeping.plan.size, self.keeping.weights
        return {param: Fraction(weights(Place(param, copies), size(param)), copies) for param, copies in found}
