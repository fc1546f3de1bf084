"""Which tensors of a traced model are fp32, and which have 16 bits, where torch.autocast decides it op by op."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.precision import BYTES
from archcalc.core.tree import ops_in
from archcalc.run import lora
from archcalc.run.precision_recipes import Recipe
from archcalc.storage.places import Place
from archcalc.storage.weight_storage import WeightStorage

NARROW, WIDE = "act", "stat"  # roles of tensors in 16 bits, and of tensors in fp32


@dataclass(frozen=True)
class Weights:
    """How weights are kept: some of them trained, the others frozen and perhaps quantised."""

    recipe: Recipe
    format: WeightStorage
    adapted: bool = False
    frozen: tuple[str, ...] = ()

    def trained(self, root: Module) -> Callable[[Param], bool]:
        return lora.is_adapter if self.adapted else lora.all_but(root, self.frozen)


def is_float(tensor: Tensor) -> bool:
    return tensor.role in (NARROW, WIDE)


class NumberFormats:
    """Follows the ops in order, until what a layer hands to the next is of one format."""

    def __init__(self, root: Module, weights: Weights) -> None:
        self.weights, self.trained = weights, weights.trained(root)
        ops = list(ops_in(root))
        results = ((one, op) for op in ops for one in (op.output, *op.beside.values()))
        self.makers = {one: op for one, op in results if one.base is None}  # of storages
        self.products = {op.output for op in ops if op.traits.contraction}
        self.readers: dict[Tensor, list[Op]] = {}
        for op in ops:
            for one in (one for one in op.inputs if one.storage is not op.output.storage):
                self.readers.setdefault(one.storage, []).append(op)
        self.wide: set[Tensor] = set()  # storages
        self.of_nothing: dict[Tensor, bool] = {}  # storages: whether no number enters
        self._follow(ops, [pair for module, _ in walk(root) for pair in module.carries])

    def _follow(self, ops: list[Op], carries: list[tuple[Tensor, Tensor]]) -> None:
        known = -1
        while len(self.wide) > known:
            known = len(self.wide)
            for op in ops:
                self.wide.update(one.storage for one in self._wide_results(op))
            self.wide.update(into.storage for into, out in carries if self.is_wide(out))

    def _wide_results(self, op: Op) -> list[Tensor]:
        """Statistics beside the output are fp32 always."""
        gives_wide = self._gives_wide(op)
        statistics = [one for one in op.beside.values() if one.role == WIDE or (gives_wide and one.role == NARROW)]
        return [op.output, *statistics] if gives_wide and is_float(op.output) else statistics

    def is_wide(self, tensor: Tensor) -> bool:
        """What nobody made enters as the weights are kept."""
        place = tensor.storage
        if isinstance(place, Param):
            return self._is_kept_wide(place)
        return place in self.wide or (place not in self.makers and (tensor.role == WIDE or self._enters_wide))

    @property
    def _enters_wide(self) -> bool:
        return BYTES[self.weights.recipe.of_frozen] == BYTES["fp32"]

    def _is_kept_wide(self, param: Param) -> bool:
        recipe = self.weights.recipe
        kept = recipe.weights if self.trained(param) else recipe.of_frozen
        return BYTES[recipe.gathered or kept] == BYTES["fp32"]

    def _gives_wide(self, op: Op) -> bool:
        kind, read = op.traits, self._read(op)
        if kind.converts == "back":
            return self.is_wide(op.inputs[1])
        if _converts(op):
            return op.output.role == WIDE
        if self._quantised(op):
            return self.is_wide(op.inputs[0])
        if kind.autocast == "narrow":
            return False
        if kind.reads_rows or kind.autocast == "weight":
            return self._weight_is_wide(op)
        if kind.autocast == "fp32":
            return True
        return any(map(self.is_wide, read)) if read else self._is_made_wide(op)

    def _read(self, op: Op) -> list[Tensor]:
        """Numbers that decide; a bias is cast with the product that it is added to."""
        is_bias = op.traits.joins_product and op.inputs[0] in self.products
        return [one for one in self._numbers(op) if is_float(one) or not is_bias]

    def _numbers(self, op: Op) -> list[Tensor]:
        return [one for one in op.inputs if is_float(one) or isinstance(one.storage, Param)]

    def _is_made_wide(self, op: Op) -> bool:
        """Of no number: an image is fp32; a mask or a table is as wide as embeddings, unless products alone read it."""
        if op.traits.enters:
            return True
        return not self._is_for_products(op.output) and (op.output.role == WIDE or self._enters_wide)

    def _is_for_products(self, tensor: Tensor) -> bool:
        """Whether only products read it, or what is made of it and of no other number."""
        readers = [one for one in self.readers.get(tensor.storage, []) if one.traits.role != "none"]
        return bool(readers) and all(one.traits.autocast == "narrow" or self._hands_on(one) for one in readers)

    def _hands_on(self, op: Op) -> bool:
        return all(map(self._is_made_of_nothing, self._numbers(op))) and self._is_for_products(op.output)

    def _is_made_of_nothing(self, tensor: Tensor) -> bool:
        place = tensor.storage
        if place not in self.of_nothing:
            made = self.makers.get(place)
            self.of_nothing[place] = made is not None and all(map(self._is_made_of_nothing, self._numbers(made)))
        return self.of_nothing[place]

    def _weight_is_wide(self, op: Op) -> bool:
        """Of a table, or of matrices that are multiplied in their own number format."""
        weights = [one for one in op.inputs if isinstance(one.storage, Param)] or op.inputs[-1:]
        return any(map(self.is_wide, weights))

    def _quantised(self, op: Op) -> bool:
        """Whether it multiplies with a quantised matrix."""
        if not self.weights.format.is_quantised or not op.traits.contraction:
            return False
        weights = [one for one in op.inputs if isinstance(one, Param) and len(one.axes) > 1]
        return any(not self.trained(one) and self.weights.format.holds(Place(one, 1)) for one in weights)

    def is_idle(self, op: Op) -> bool:
        """A conversion to what the tensor is in already."""
        if op.traits.converts not in ("only", "back") or not is_float(op.output) or not self._numbers(op):
            return False
        return self.is_wide(op.inputs[0]) == self.is_wide(op.output)

    def cast_by(self, op: Op) -> Iterator[tuple[Tensor, str]]:
        """What an op copies before it computes, and in which role."""
        read = dict.fromkeys(one for one in op.inputs if is_float(one))
        wanted = self._computed_in(op)
        yield from ((one, wanted) for one in read if wanted and self.is_wide(one) != (wanted == WIDE))

    def _computed_in(self, op: Op) -> str:
        """The role that all it reads is cast to, if any."""
        kind = op.traits
        if kind.autocast == "weight":
            return WIDE if self._weight_is_wide(op) else NARROW
        if kind.reads_rows:
            return ""
        return {"narrow": NARROW, "fp32": WIDE}.get(kind.autocast, "")

    def widens_back(self, op: Op) -> bool:
        return self._quantised(op) and self.is_wide(op.inputs[0])


def _converts(op: Op) -> bool:
    return bool(op.traits.converts) and is_float(op.output) and op.inputs[0].role != op.output.role
