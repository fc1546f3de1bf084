"""The bytes that the kernels of a forward pass read and write on one GPU, in the formats of the run.

A kernel moves what it needs of a weight or of a cache once, however many of its ops read it: a latent cache whose
vectors are keys and values is read once by an attention kernel, and twice by eager attention, which has a kernel for
each product.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from archcalc.analyze.flops.cost import Piece
from archcalc.analyze.flops.report import Traffic
from archcalc.analyze.flops.routing import shares_read
from archcalc.analyze.flops.share import Share
from archcalc.analyze.memory.decode_cache import grows
from archcalc.analyze.memory.states import Keeping
from archcalc.core.ir import Op, Param, Region, Tensor, walk
from archcalc.core.kernels import Launch, launches
from archcalc.core.positions import GROWING
from archcalc.core.precision import BYTES, Policy
from archcalc.core.tree import computed_earlier
from archcalc.run.case import Case
from archcalc.run.lora import is_adapter
from archcalc.storage.places import Place

FUSED = {"flash": (Region.KERNEL, Region.CORE), "eager": (Region.KERNEL,)}  # what one kernel computes, by attention


class Met(NamedTuple):
    """So many elements of a storage that a kernel reads or writes, and the op that does."""

    storage: Tensor
    elements: int
    op: Op  # with its sizes on one GPU
    tensor: Tensor  # the storage as the op sees it


@dataclass(frozen=True)
class Movement:
    """What one GPU moves in a run."""

    share: Share
    case: Case
    keeping: Keeping
    decodes: bool

    @property
    def weights_format(self) -> str:
        """By its name."""
        is_cast = self.case.trains and not self.case.format.is_quantised
        return self.case.activations if is_cast else self.case.format.name

    def traffic(self) -> Traffic:
        """What a forward pass moves besides activations."""
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for launch in self._launches:
            for name, number in self._moves(launch.ops):
                sums[name] += launch.times * number
        return Traffic(**{field.name: round(sums[field.name]) for field in fields(Traffic)})

    def of_products(self, pieces: Iterable[Piece]) -> int:
        """Bytes of every factor and result of the forward products among `pieces`."""
        wanted = {piece.op for piece in pieces}
        return round(sum((number for op, number in self._products.items() if op in wanted), Fraction(0)))

    @cached_property
    def _launches(self) -> list[Launch]:
        return list(launches(self.share.root, FUSED[self.case.attention]))

    @cached_property
    def _products(self) -> dict[Op, Fraction]:
        """The bytes of every kernel with products, by the first of them."""
        found: dict[Op, Fraction] = {}
        for launch in self._launches:
            products = [op for op in launch.ops if op.traits.matrix]
            if products:
                moved = sum((self._bytes(met) for met in self._met(products)), Fraction(0))
                found[products[0]] = launch.times * moved
        return found

    def _moves(self, ops: Iterable[Op]) -> Iterator[tuple[str, Fraction]]:
        """Weights that are read, and what is read of a cache or written into it."""
        new = [op for op in ops if not self._was_written(op)]
        for met in self._met(new):
            if isinstance(met.storage, Param):
                whole, shares = self._of_weight(met), shares_read(met.op, met.tensor, met.storage)
                yield "weights", whole * shares.expected
                yield "weights_least", whole * shares.least
                yield "weights_largest", whole * shares.largest
            elif self._is_kept(met.storage) and grows(met.storage):
                yield "kv_cache", self._bytes(met)
        for op in ops:
            if op.output.role == "cache" and not grows(op.output):
                yield "state", self._of_cache(op.output, self.share.elements(op.output)) * self._times_moved(op)

    def _times_moved(self, state: Op) -> int:
        """A state is written whole, unless it is an earlier step's, and read once before that in a decode step, however
        many ops record the reading."""
        return self.decodes + (not self._was_written(state))

    def _was_written(self, op: Op) -> bool:
        """Whether an earlier step put into the cache what the op would."""
        return op.output.role == "cache" and any(tensor.storage in self._earlier for tensor in op.inputs)

    def _met(self, ops: Iterable[Op]) -> Iterator[Met]:
        """Weights and caches once for the kernel, which cannot need more of them than there is; all else op by op."""
        kept: dict[Tensor, list[Met]] = defaultdict(list)
        for met in (met for op in ops for met in self._met_by(op)):
            if self._is_kept(met.storage):
                kept[met.storage].append(met)
            else:
                yield met
        for storage, several in kept.items():
            needed = min(sum(met.elements for met in several), self.share.elements(storage))
            yield several[0]._replace(elements=self._seen(storage, needed, ops))

    def _seen(self, storage: Tensor, elements: int, ops: Iterable[Op]) -> int:
        """Of a cache, the positions that the one query of a decode step sees, where its kernel skips the others."""
        seen = next((op.sees for op in ops if op.sees), None)
        past = next((int(dim.size) for dim in storage.dims if dim.positions in GROWING), 0)
        return elements // past * seen if self.decodes and seen and seen < past else elements

    def _met_by(self, op: Op) -> Iterator[Met]:
        here = self.share.op(op)
        whole = dict(zip((*here.inputs, here.output), (*op.inputs, op.output), strict=True))
        for tensor, elements in (*op.traits.reads(here), *op.traits.writes(here)):
            yield Met(whole[tensor].storage, int(elements), here, tensor)

    def _is_kept(self, storage: Tensor) -> bool:
        """From one step to the next."""
        return isinstance(storage, Param) or storage.role == "cache" or storage in self._earlier

    @cached_property
    def _earlier(self) -> frozenset[Tensor]:
        return computed_earlier(self.share.root)

    def _bytes(self, met: Met) -> Fraction:
        if isinstance(met.storage, Param):
            return self._of_weight(met) * shares_read(met.op, met.tensor, met.storage).expected
        if self._is_kept(met.storage):
            return self._of_cache(met.storage, met.elements)
        return Fraction(met.elements * self._policy.bytes_of(met.tensor.role))

    def _of_cache(self, storage: Tensor, elements: int) -> Fraction:
        stored = self.case.kv_format if grows(storage) else self.case.state_format
        return Fraction(stored.bytes_of(elements) if stored else elements * self._policy.bytes_of("cache"))

    def _of_weight(self, met: Met) -> Fraction:
        """As it is stored; in training, and beside quantised weights, in the format of the product that reads it."""
        assert isinstance(met.storage, Param)
        param = met.storage
        if not met.elements:  # a shared expert of no width
            return Fraction(0)
        if is_adapter(param) or (self.case.trains and not self.keeping.quantised(param)):
            return Fraction(met.elements * BYTES[self._computed(met.op)])
        return self._stored[param] * met.elements / self.share.elements(param)

    def _computed(self, op: Op) -> str:
        narrow = self.case.recipe.products if self.case.recipe and op.traits.matrix else ""
        return narrow or self.case.activations

    @cached_property
    def _policy(self) -> Policy:
        return Policy(self.case.activations)

    @cached_property
    def _stored(self) -> dict[Tensor, Fraction]:
        """Bytes of one copy of each parameter; layers may be stored in several formats, so this is their mean."""
        found = [(param, int(copies)) for module, copies in walk(self.share.root) for param in module.params.values()]
        plan, weights = self.keeping.plan, self.keeping.weights
        return {param: Fraction(weights(Place(param, copies), plan.size(param)), copies) for param, copies in found}
