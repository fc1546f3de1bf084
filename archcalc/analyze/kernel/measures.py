"""What attention costs as a function of the sequence length N: FLOPs of its matrix products, and elements in memory.

Each attention is traced with the code that builds models. Of the dims that a product meets, or that a tensor has, those
along the sequence give the power of N, the others the factor in front of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

from archcalc.archs.transformer.parts.part import Context
from archcalc.core.count import Count, product
from archcalc.core.ir import Dim, Module, Op, Param, Region, Tensor, axes, walk
from archcalc.core.tree import ops_in, read_from_outside, signals_of
from archcalc.layers.attention import SOFTMAX, Attention, Heads, Inputs
from archcalc.layers.attention_mask import Sight
from archcalc.layers.dims import sequence_of
from archcalc.layers.kernel import NORMALISER, KernelAttention
from archcalc.spec.workload import Workload

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class Cost:
    """Matrix products of one kind of attention: 2 × N^power × the sum of `factors`."""

    power: int
    factors: tuple[Count, ...]

    def at(self, length: int) -> int:
        return int(2 * Count(length) ** self.power * sum(self.factors))

    def worked(self) -> str:
        """`2 × N² × (64 + 64)`."""
        terms = " + ".join(factor.worked() for factor in self.factors)
        summed = f"({terms})" if len(self.factors) > 1 else terms
        return f"2 × N{'²' if self.power > 1 else ''} × {summed}"


@dataclass(frozen=True)
class Elements:
    """Elements in memory: squared × N² + linear × N + fixed."""

    squared: int
    linear: int
    fixed: int

    @classmethod
    def of(cls, tensors: Iterable[Tensor]) -> Elements:
        by_power = [0, 0, 0]
        for tensor in tensors:
            by_power[_power(tensor.dims)] += int(_factor(tensor.dims))
        fixed, linear, squared = by_power
        return cls(squared, linear, fixed)

    def at(self, length: int) -> int:
        return self.squared * length**2 + self.linear * length + self.fixed

    def worked(self) -> str:
        """`2 × N² + 256 × N`."""
        powers = ((self.squared, " × N²"), (self.linear, " × N"), (self.fixed, ""))
        return " + ".join(f"{factor:,}{power}" for factor, power in powers if factor)

    def less_from(self, other: Elements) -> int | None:
        """The first length from which on this is less than the other, or None if there is none."""
        squared, linear, fixed = other.squared - self.squared, other.linear - self.linear, other.fixed - self.fixed
        if squared < 0 or (squared == 0 and linear <= 0):
            return None
        below = linear**2 - 4 * squared * fixed  # the discriminant: below 0, this is less at every length
        if squared and below < 0:
            return 1
        first = max((isqrt(below) - linear) // (2 * squared) if squared else -fixed // linear, 1)
        return first if self.at(first) < other.at(first) else first + 1


@dataclass(frozen=True)
class Measures:
    """One kind of attention: a key-value head, and the queries that share it."""

    products: Cost
    normaliser: Cost | None
    memory: Elements
    cache: Elements  # of N tokens, for the next one


def measured(layer: Heads, feature: str, length: int) -> Measures:
    root = _traced(layer, feature, Workload(1, {"seq": length}))
    prefill = _traced(layer, feature, Workload(1, {"seq": length}, mode="prefill"))
    # Matrix products of activations: those with weights are the same in both kinds.
    between = [op for op in ops_in(root) if not any(isinstance(tensor, Param) for tensor in op.inputs)]
    products = [op for op in between if op.traits.matrix]
    normalising = [op for op in products if op.name == NORMALISER]
    # In memory: queries, keys, values, and whatever a product reads or makes, each stored once.
    (core,) = (module for module, _ in walk(root) if module.region in (Region.CORE, Region.KERNEL))
    computed = signals_of(root)
    projected = [tensor for tensor in read_from_outside(core) if tensor.storage in computed]
    met = [tensor for op in products for tensor in (*op.inputs, op.output)]
    return Measures(
        products=_cost([op for op in products if op.name != NORMALISER]),
        normaliser=_cost(normalising) if normalising else None,
        memory=Elements.of({tensor.storage: tensor for tensor in (*projected, *met)}.values()),
        cache=Elements.of(op.output for op in ops_in(prefill) if op.output.role == "cache"),
    )


def _traced(layer: Heads, feature: str, work: Workload) -> Module:
    """One key-value head's attention over all positions, without position encodings: most add no products, and a kernel
    has no scores that the others could be added to."""
    group, sight = layer.heads // layer.kv_heads, Sight(layer.sight.causal)
    sizes = Heads(group, 1, layer.head_dim, layer.bias, layer.v_dim, sight=sight, feature=feature)
    alone = Attention(**vars(sizes)) if feature == SOFTMAX else KernelAttention(**vars(sizes))
    m, sequences = Module("attention"), [sequence_of(name, length) for name, length in work.lengths.items()]
    x = Tensor(axes(Dim.of("batch", work.batch), *sequences, Dim.of("d_model", group * layer.head_dim)))
    alone.run(m, x, Inputs(work, mask=Context(work).mask(x, sight)))
    return m


def _cost(ops: list[Op]) -> Cost:
    met = [tuple({dim.name: dim for tensor in op.inputs for dim in tensor.dims}.values()) for op in ops]
    (power,) = set(map(_power, met))
    return Cost(power, tuple(map(_factor, met)))


def _power(dims: tuple[Dim, ...]) -> int:
    return sum(dim.positions is not None for dim in dims)


def _factor(dims: tuple[Dim, ...]) -> Count:
    return product(dim.size for dim in dims if dim.positions is None)
