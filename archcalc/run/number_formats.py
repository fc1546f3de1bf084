"""Which tensors of a traced model are fp32, and which have 16 bits, where torch.autocast decides it op by op."""

from __future__ import annotations

from collections.abc import Callable

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.precision import BYTES
from archcalc.core.tree import ops_in
from archcalc.run.precision_recipes import Recipe
from archcalc.storage.places import Place
from archcalc.storage.weight_storage import WeightStorage

NARROW, WIDE = "act", "stat"  # roles of tensors in 16 bits, and of tensors in fp32
FLOATS = (NARROW, WIDE)


class NumberFormats:
    """Follows the ops in order, until what a layer hands to the next is of one format. Some weights are `trained`, the
    others frozen and perhaps quantised."""

    def __init__(self, root: Module, recipe: Recipe, format: WeightStorage, trained: Callable[[Param], bool]) -> None:
        self.recipe, self.format, self.trained = recipe, format, trained
        self.enters_wide = BYTES[recipe.of_frozen] == BYTES["fp32"]
        ops, carries = list(ops_in(root)), [pair for module, _ in walk(root) for pair in module.carries]
        results = ((one, op) for op in ops for one in (op.output, *op.beside.values()))
        self.makers = {one: op for one, op in results if one.of is None}  # of storages
        self.products = {op.output for op in ops if op.traits.contraction}
        self.readers: dict[Tensor, list[Op]] = {}
        for op in ops:
            for one in (one for one in op.inputs if one.storage is not op.output.storage):
                self.readers.setdefault(one.storage, []).append(op)
        self.wide: set[Tensor] = set()  # storages
        self.of_nothing: dict[Tensor, bool] = {}  # storages: whether no number enters
        known = -1
        while len(self.wide) > known:
            known = len(self.wide)
            for op in ops:
                gives_wide = self._gives_wide(op)
                if gives_wide and op.output.role in FLOATS:
                    self.wide.add(op.output.storage)
                roles = FLOATS if gives_wide else (WIDE,)  # statistics beside the output are fp32 always
                self.wide.update(one.storage for one in op.beside.values() if one.role in roles)
            self.wide.update(into.storage for into, out in carries if self.is_wide(out))

    def is_wide(self, tensor: Tensor) -> bool:
        """What nobody made enters as the weights are kept."""
        place = tensor.storage
        if isinstance(place, Param):
            kept = self.recipe.weights if self.trained(place) else self.recipe.of_frozen
            return BYTES[self.recipe.gathered or kept] == BYTES["fp32"]
        return place in self.wide or (place not in self.makers and (tensor.role == WIDE or self.enters_wide))

    def _gives_wide(self, op: Op) -> bool:
        kind = op.traits
        if kind.converts == "back":
            return self.is_wide(op.inputs[1])
        if kind.converts and op.output.role in FLOATS and op.inputs[0].role != op.output.role:
            return op.output.role == WIDE
        if self.is_quantised(op):
            return self.is_wide(op.inputs[0])
        if kind.reads_rows or kind.autocast == "weight":
            return self._weight_is_wide(op)
        if kind.autocast:
            return kind.autocast == "fp32"
        is_bias = kind.joins_product and op.inputs[0] in self.products  # cast with the product that it is added to
        read = [one for one in _numbers(op) if one.role in FLOATS or not is_bias]
        if read:
            return any(map(self.is_wide, read))
        if kind.enters:  # an image
            return True
        # of no number: a mask or a table is as wide as embeddings, unless products alone read it
        return not self._is_for_products(op.output) and (op.output.role == WIDE or self.enters_wide)

    def _is_for_products(self, tensor: Tensor) -> bool:
        """Whether only products read it, or what is made of it and of no other number."""
        readers = [one for one in self.readers.get(tensor.storage, []) if one.traits.role != "none"]
        others = [one for one in readers if one.traits.autocast != "narrow"]
        return bool(readers) and all(
            all(map(self._is_made_of_nothing, _numbers(one))) and self._is_for_products(one.output) for one in others
        )

    def _is_made_of_nothing(self, tensor: Tensor) -> bool:
        place = tensor.storage
        if place not in self.of_nothing:
            made = self.makers.get(place)
            self.of_nothing[place] = made is not None and all(map(self._is_made_of_nothing, _numbers(made)))
        return self.of_nothing[place]

    def _weight_is_wide(self, op: Op) -> bool:
        """Of a table, or of matrices that are multiplied in their own number format."""
        weights = [one for one in op.inputs if isinstance(one.storage, Param)] or op.inputs[-1:]
        return any(map(self.is_wide, weights))

    def is_quantised(self, op: Op) -> bool:
        """Whether it multiplies with a quantised matrix."""
        if not self.format.is_quantised or not op.traits.contraction:
            return False
        weights = [one for one in op.inputs if isinstance(one, Param) and len(one.axes) > 1]
        return any(not self.trained(one) and self.format.holds(Place(one, 1)) for one in weights)

    def is_idle(self, op: Op) -> bool:
        """A conversion to what the tensor is in already."""
        if op.traits.converts not in ("only", "back") or op.output.role not in FLOATS or not _numbers(op):
            return False
        return self.is_wide(op.inputs[0]) == self.is_wide(op.output)

    def computed_in(self, op: Op) -> str:
        """The role that all it reads is cast to, if any."""
        if op.traits.autocast == "weight":
            return WIDE if self._weight_is_wide(op) else NARROW
        return "" if op.traits.reads_rows else {"narrow": NARROW, "fp32": WIDE}.get(op.traits.autocast, "")


def _numbers(op: Op) -> list[Tensor]:
    return [one for one in op.inputs if one.role in FLOATS or isinstance(one.storage, Param)]
