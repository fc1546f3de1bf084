"""One GPU's share: every op with the part of each dim that this GPU computes, and the bytes that it reads and writes.

What a plan cannot split is computed by every GPU, and counts fully on each of them. With context parallelism a GPU
computes its part of the queries over the keys and values of the whole sequence, as ring attention does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod

from archcalc.analyze.flops.cost import Piece, Work
from archcalc.analyze.flops.report import Traffic
from archcalc.analyze.memory.decode_cache import grows
from archcalc.analyze.memory.states import Keeping
from archcalc.core.execution import never
from archcalc.core.ir import Axes, Dim, Module, Op, Param, Tensor, walk
from archcalc.core.mesh import Plan
from archcalc.core.positions import Positions
from archcalc.core.precision import Policy
from archcalc.core.tree import computed_earlier
from archcalc.run.lora import is_adapter
from archcalc.storage.format import Format
from archcalc.storage.places import facts
from archcalc.storage.weight_storage import WeightStorage


@dataclass(frozen=True)
class Formats:
    """The formats in which weights and caches are read and written; None: as the activations."""

    activations: str
    weights: WeightStorage | None = None
    kv_cache: Format | None = None
    state: Format | None = None


@dataclass(frozen=True)
class Share:
    """What one of a plan's GPUs computes of a traced model, and moves for it."""

    root: Module
    plan: Plan
    formats: Formats
    decodes: bool = False
    fused_qkv: bool = False

    def op(self, op: Op) -> Op:
        """The op with its sizes on one GPU; its inputs keep their order."""
        if self.plan.gpus == self.plan.dp:
            return op
        whole = _keys(op)
        inputs = tuple(self._local(tensor, whole) for tensor in op.inputs)
        return Op(
            op.kind,
            inputs,
            self._local(op.output, whole),
            over=tuple(self._part(dim, whole) for dim in op.over),
            select=tuple(self._part(dim, whole) for dim in op.select),
        )

    def _local(self, tensor: Tensor, whole: Iterable[str] = ()) -> Tensor:
        sizes = iter(self.plan.sizes(tensor))
        axes: Axes = tuple(tuple(self._dim(dim, next(sizes), whole) for dim in axis) for axis in tensor.axes)
        return Tensor(axes, tensor.role)

    def _part(self, dim: Dim, whole: Iterable[str]) -> Dim:
        return self._dim(dim, self.plan.part(dim), whole)

    def _dim(self, dim: Dim, size: int, whole: Iterable[str]) -> Dim:
        if dim.positions is Positions.SEQUENCE and dim.name not in whole:
            size = -(-size // self.plan.cp)
        return Dim.of(dim.name, size, copies=dim.copies, positions=dim.positions)

    def traffic(self, done: Work) -> Traffic:
        """What the forward pass moves besides activations."""
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for piece in done.pieces:
            if piece.matrix == piece.op.traits.matrix:  # not the products of another op's backward pass
                for name, number in self._moves(piece.op):
                    sums[name] += piece.times * number
        return Traffic(**{name: -(-sums[name] // 1) for name in ("weights", "kv_cache", "state")})

    def _moves(self, op: Op) -> Iterator[tuple[str, Fraction]]:
        """Weights that are read, and what is read of a cache or written into it."""
        if op.output.role == "cache" and any(tensor.storage in self._earlier for tensor in op.inputs):
            return  # an earlier step wrote it
        here = self.op(op)
        whole = dict(zip((*here.inputs, here.output), (*op.inputs, op.output), strict=True))
        for tensor, elements in (*op.traits.reads(here), *op.traits.writes(here)):
            storage = whole[tensor].storage
            number = min(int(elements), self._elements(storage))  # a view may show each of them several times
            if isinstance(storage, Param) and number:  # a shared expert of no width has weights without elements
                yield "weights", self._of_weights(storage) * number * _chosen(here, tensor) / self._elements(storage)
            elif (storage.role == "cache" or storage in self._earlier) and grows(storage):
                yield "kv_cache", self._of_cache(storage, number)
            elif storage.role == "cache" and whole[tensor] is op.output:
                yield "state", self._of_cache(storage, self._elements(storage)) * self._times_moved

    @cached_property
    def _earlier(self) -> frozenset[Tensor]:
        return computed_earlier(self.root)

    @property
    def _times_moved(self) -> int:
        """A state is written whole, and in a decode step read once before that, however many ops record the reading."""
        return 2 if self.decodes else 1

    def _elements(self, storage: Tensor) -> int:
        return int(self._local(storage).size)

    def moved(self, pieces: Iterable[Piece]) -> int:
        """Bytes of every factor and result of the forward products, each read or written once."""
        found = (piece.times * self._bytes(piece.op) for piece in pieces if piece.matrix)
        return -(-sum(found, Fraction(0)) // 1)

    def _bytes(self, op: Op) -> Fraction:
        whole = _keys(op)
        return sum((self._size(tensor, whole) for tensor in (*op.inputs, op.output)), Fraction(0))

    def _size(self, tensor: Tensor, whole: Iterable[str]) -> Fraction:
        storage = tensor.storage
        if isinstance(storage, Param) and self.formats.weights:
            return self._of_weights(storage)
        elements = int(self._local(tensor, whole).size)
        if storage.role == "cache":
            return self._of_cache(storage, elements)
        return Fraction(elements * self._policy.bytes_of(tensor.role))

    def _of_cache(self, storage: Tensor, elements: int) -> Fraction:
        stored = self.formats.kv_cache if grows(storage) else self.formats.state
        return Fraction(stored.bytes_of(elements) if stored else elements * self._policy.bytes_of("cache"))

    def _of_weights(self, param: Param) -> Fraction:
        """One copy, on this GPU; adapters beside quantised weights are not quantised themselves."""
        if self.formats.weights and not is_adapter(param):
            return self._weights[param]
        return Fraction(self.plan.size(param) * self._policy.bytes_of("param"))

    @cached_property
    def _policy(self) -> Policy:
        return Policy(self.formats.activations)

    @cached_property
    def _weights(self) -> dict[Tensor, Fraction]:
        """Bytes of one copy of each parameter; layers may be stored in several formats, so this is their mean."""
        assert self.formats.weights
        rest = self.formats.weights.rest or self.formats.activations
        known = facts(self.root, fused_qkv=self.fused_qkv)
        keeping = Keeping(self.plan, self.formats.weights, rest, never, model=known)
        found = [(param, int(copies)) for module, copies in walk(self.root) for param in module.params.values()]
        return {param: Fraction(keeping.of(param, copies).weights, copies) for param, copies in found}


def _chosen(op: Op, tensor: Tensor) -> Fraction:
    """The share of experts that tokens can choose at the most, where they choose; rows of a table are counted."""
    experts = [dim for dim in op.select if dim in tensor.dims]
    if not experts or op.traits.reads_rows:
        return Fraction(1)
    rows = prod(int(dim.size) for dim in op.output.dims if dim not in tensor.dims)
    return min(Fraction(1), Fraction(rows, prod(int(dim.size) for dim in experts)))


def _keys(op: Op) -> tuple[str, ...]:
    """The positions of keys and values, which attention reads of all GPUs that share a sequence."""
    if not op.traits.attention_kernel:
        return ()
    _, key, *_ = op.inputs
    return (key.dims[2].name,)
