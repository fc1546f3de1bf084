"""The bytes that the kernels of a forward pass read and write on one GPU.

A kernel moves what it needs of a weight or of a cache once, however many of its ops read it: a latent cache whose
vectors are keys and values is read once by an attention kernel, and twice by eager attention, which has a kernel for
each product.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from math import prod
from typing import NamedTuple

from archcalc.analyze.flops.cost import Piece
from archcalc.analyze.flops.report import Traffic
from archcalc.analyze.memory.decode_cache import grows
from archcalc.analyze.memory.states import Keeping
from archcalc.core.ir import Axes, Dim, Module, Op, Param, Region, Tensor, walk
from archcalc.core.kernels import Launch, launches
from archcalc.core.mesh import Plan
from archcalc.core.positions import GROWING, Positions
from archcalc.core.precision import BYTES, Policy
from archcalc.core.tree import computed_earlier
from archcalc.run.lora import is_adapter
from archcalc.run.resolved import Run
from archcalc.storage.places import Place

FUSED = (Region.KERNEL, Region.CORE)  # what one kernel computes; eager attention's core is several


class Met(NamedTuple):
    """So many elements of a storage that a kernel reads or writes, and the op that does."""

    storage: Tensor
    elements: int
    op: Op  # with its sizes on one GPU
    tensor: Tensor  # the storage as the op sees it


@dataclass(frozen=True)
class Movement:
    """What one GPU moves in a run; `attention` is its kernel."""

    share: Share
    formats: NumberFormats
    attention: str
    decodes: bool

    def traffic(self) -> Traffic:
        """What a forward pass moves besides activations."""
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for launch in self._launches:
            for name, number in self._besides_activations(launch.ops):
                sums[name] += launch.times * number
        return Traffic(**{field.name: round(sums[field.name]) for field in fields(Traffic)})

    def of_products(self, pieces: Iterable[Piece]) -> int:
        """Bytes of every factor and result of the forward products among `pieces`."""
        wanted = {piece.op for piece in pieces}
        return round(sum((number for op, number in self._products.items() if op in wanted), Fraction(0)))

    @cached_property
    def _launches(self) -> list[Launch]:
        fused = (Region.KERNEL,) if self.attention == "eager" else FUSED
        return list(launches(self.share.root, fused))

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

    def _besides_activations(self, ops: Sequence[Op]) -> Iterator[tuple[str, Fraction]]:
        for met in self._met([op for op in ops if not self._was_written(op)]):
            if isinstance(met.storage, Param):
                yield from self._of_experts(met, met.storage)
            elif self._is_kept(met.storage) and grows(met.storage):
                yield "kv_cache", self._bytes(met)
        for op in ops:
            # A state is written whole, unless it is an earlier step's, and read once before that in a decode step,
            # however many ops record the reading.
            if op.output.role == "cache" and not grows(op.output):
                moved = self.decodes + (not self._was_written(op))
                yield "state", moved * self.formats.of_cache(op.output, self.share.elements(op.output))

    def _of_experts(self, met: Met, param: Param) -> Iterator[tuple[str, Fraction]]:
        """A weight, with the least and the most that is read of it where tokens choose."""
        whole, shares = self.formats.of_weight(param, met.elements, met.op), shares_read(met.op, met.tensor, param)
        yield "weights", whole * shares.expected
        yield "weights_least", whole * shares.least
        yield "weights_largest", whole * shares.largest

    def _was_written(self, op: Op) -> bool:
        """Whether an earlier step put into the cache what the op would."""
        return op.output.role == "cache" and any(tensor.storage in self._earlier for tensor in op.inputs)

    def _met(self, ops: Sequence[Op]) -> Iterator[Met]:
        """Weights and caches once for the kernel, which cannot need more of them than there is; all else op by op."""
        kept: dict[Tensor, list[Met]] = defaultdict(list)
        seen = next((op.sees for op in ops if op.sees), None)
        for op in ops:
            here = self.share.op(op)
            whole = dict(zip((*here.inputs, here.output), (*op.inputs, op.output), strict=True))
            for tensor, elements in (*op.traits.reads(here), *op.traits.writes(here)):
                met = Met(whole[tensor].storage, int(elements), here, tensor)
                if self._is_kept(met.storage):
                    kept[met.storage].append(met)
                else:
                    yield met
        for storage, several in kept.items():
            needed = min(sum(met.elements for met in several), self.share.elements(storage))
            # Of a cache, the positions that the one query of a decode step sees, where its kernel skips the others.
            past = next((int(dim.size) for dim in storage.dims if dim.positions in GROWING), 0)
            if self.decodes and seen and seen < past:
                needed = needed // past * seen
            yield several[0]._replace(elements=needed)

    def _is_kept(self, storage: Tensor) -> bool:
        """From one step to the next."""
        return isinstance(storage, Param) or storage.role == "cache" or storage in self._earlier

    @cached_property
    def _earlier(self) -> frozenset[Tensor]:
        return computed_earlier(self.share.root)

    def _bytes(self, met: Met) -> Fraction:
        """Of experts, what is expected to be read."""
        storage, elements = met.storage, met.elements
        if isinstance(storage, Param):
            return dict(self._of_experts(met, storage))["weights"]
        if self._is_kept(storage):
            return self.formats.of_cache(storage, elements)
        return self.formats.of_role(met.tensor.role, elements)


class ReadShares(NamedTuple):
    """The share of a weight that is read: `least` if all tokens choose the same experts, `largest` if they choose as
    many as they can, `expected` if every token chooses independently and all experts are equally likely."""

    expected: Fraction
    least: Fraction
    largest: Fraction


WHOLE = ReadShares(Fraction(1), Fraction(1), Fraction(1))


def shares_read(op: Op, tensor: Tensor, weight: Param) -> ReadShares:
    """Of a weight of experts, which `op` sees as `tensor`."""
    if weight.active is None:
        return WHOLE
    each = Fraction(int(weight.active), int(weight.elements))  # k of E experts, for one token
    choices = prod(int(dim.size) for dim in op.output.dims if dim not in tensor.dims)
    # The dims that an op neither gives out nor sums are those it chooses along.
    experts = prod(int(dim.size) for dim in tensor.dims if dim not in (*op.output.dims, *op.over))
    return shares_of(each, int(choices / (each * experts)))


def shares_of(each: Fraction, tokens: int) -> ReadShares:
    """Where a token reads the share `each`. An expert is chosen by none of T tokens with probability (1 − k/E)^T."""
    missed = (1 - float(each)) ** tokens
    return ReadShares(Fraction(1 - missed), each, min(Fraction(1), tokens * each))


@dataclass(frozen=True)
class NumberFormats:
    """Bytes of weights, caches and activations on one GPU, in the number formats of a run; `keeping` is how memory
    holds the weights of the same run."""

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


@dataclass(frozen=True)
class Share:
    """What one of a plan's GPUs computes of a traced model: every op with its part of each dim.

    What a plan cannot split is computed by every GPU, and counts fully on each of them. With context parallelism a GPU
    computes its part of the queries over the keys and values of the whole sequence, as ring attention does.
    """

    root: Module
    plan: Plan

    def op(self, op: Op) -> Op:
        """The op with its sizes on one GPU; its inputs keep their order."""
        if self.plan.gpus == self.plan.dp:
            return op
        whole: tuple[str, ...] = ()
        if op.traits.attention_kernel:  # reads keys and values of all GPUs that share a sequence
            whole = (op.inputs[1].dims[2].name,)
        return Op(
            op.kind,
            tuple(self._local(tensor, whole) for tensor in op.inputs),
            self._local(op.output, whole),
            over=tuple(self._dim(dim, self.plan.part(dim), whole) for dim in op.over),
            select=tuple(self._dim(dim, self.plan.part(dim), whole) for dim in op.select),
        )

    def elements(self, tensor: Tensor) -> int:
        """Of a whole tensor, those on one GPU."""
        return int(self._local(tensor).size)

    def _local(self, tensor: Tensor, whole: Iterable[str] = ()) -> Tensor:
        sizes = iter(self.plan.sizes(tensor))
        axes: Axes = tuple(tuple(self._dim(dim, next(sizes), whole) for dim in axis) for axis in tensor.axes)
        return Tensor(axes, tensor.role)

    def _dim(self, dim: Dim, size: int, whole: Iterable[str]) -> Dim:
        if dim.positions is Positions.SEQUENCE and dim.name not in whole:
            size = -(-size // self.plan.cp)
        return Dim.of(dim.name, size, copies=dim.copies, positions=dim.positions)
