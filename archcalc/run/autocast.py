"""torch.autocast as a change to a traced model: what every op computes in, and what it casts for that.

Matrix products are computed in 16 bits, norms, softmax and losses in fp32, all else in the widest of its inputs. An op
casts what it reads in another format for itself alone. Roles say formats then: `act` is 16 bits, `stat` fp32. Products
with a quantised matrix give out what they were given (bitsandbytes, Linear4bit.forward).
Source: PyTorch's documentation, Automatic Mixed Precision, CUDA Op-Specific Behavior.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from archcalc.core.ir import Module, Op, Param, Tensor, walk
from archcalc.core.precision import BYTES
from archcalc.core.tree import ops_in
from archcalc.run import lora
from archcalc.run.precision_recipes import Recipe
from archcalc.storage.places import Place
from archcalc.storage.weight_storage import WeightStorage

NARROW, WIDE = "act", "stat"  # roles of tensors in 16 bits, and of tensors in fp32
FLOATS = (NARROW, WIDE)
SOFTMAX = {"softmax_fp32": "softmax"}  # what is left of an op that widens, where its result is not narrowed again


@dataclass(frozen=True)
class Autocast:
    """A change to a traced model, once all ops are those that run. Its weights are kept by the recipe, those that are
    not trained in the format."""

    recipe: Recipe
    format: WeightStorage
    adapted: bool = False
    frozen: tuple[str, ...] = ()

    def __call__(self, root: Module) -> None:
        trained = lora.is_adapter if self.adapted else lora.all_but(root, self.frozen)
        formats = _NumberFormats(root, self.recipe, self.format, trained)
        gone: set[Op | Module] = set()  # conversions to what the tensor is in already
        for op, numbers in formats.numbers.items():
            converts = op.traits.converts in ("only", "back") and op.output.role in FLOATS and bool(numbers)
            if converts and formats.is_wide(op.inputs[0]) == formats.is_wide(op.output):
                formats.found[op.output] = formats.tensor(op.inputs[0])
                gone.add(op)
        for module, _ in walk(root):
            kept = [item for item in module.body if item not in gone]
            lines = ([item] if isinstance(item, Module) else formats.lines(item) for item in kept)
            module.body[:] = [new for line in lines for new in line]
        for module, _ in walk(root):
            module.carries[:] = [(formats.tensor(into), formats.tensor(out)) for into, out in module.carries]


class _NumberFormats:
    """Which tensors are fp32, and which have 16 bits: follows the ops in order, until what a layer hands to the next is
    of one format. Some weights are `trained`, the others frozen and perhaps quantised. Then every tensor in the role of
    its format."""

    def __init__(self, root: Module, recipe: Recipe, format: WeightStorage, trained: Callable[[Param], bool]) -> None:
        self.recipe, self.trained = recipe, trained
        self.enters_wide = BYTES[recipe.frozen] == BYTES["fp32"]
        ops, carries = list(ops_in(root)), [pair for module, _ in walk(root) for pair in module.carries]
        results = ((one, op) for op in ops for one in (op.output, *op.beside.values()))
        self.makers = {one: op for one, op in results if one.of is None}  # of storages
        self.products = {op.output for op in ops if op.traits.contraction}
        self.weights = {op: [one for one in op.inputs if isinstance(one.storage, Param)] for op in ops}
        self.numbers = {op: [one for one in op.inputs if one.role in FLOATS or one in self.weights[op]] for op in ops}
        self.quantised: set[Op] = set()  # ops that multiply with a quantised matrix
        self.readers: dict[Tensor, list[Op]] = {}
        for op in ops:
            for one in (one for one in op.inputs if one.storage is not op.output.storage):
                self.readers.setdefault(one.storage, []).append(op)
            matrices = [one for one in op.inputs if isinstance(one, Param) and len(one.axes) > 1 and not trained(one)]
            if format.is_quantised and op.traits.contraction and any(format.holds(Place(one, 1)) for one in matrices):
                self.quantised.add(op)
        self.wide: set[Tensor] = set()  # storages
        self.of_nothing: dict[Tensor, bool] = {}  # storages: whether no number enters
        self.found: dict[Tensor, Tensor] = {}
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
            kept = self.recipe.frozen_vectors if len(place.axes) == 1 else ""
            kept = self.recipe.weights if self.trained(place) else kept or self.recipe.frozen
            return BYTES[self.recipe.gathered or kept] == BYTES["fp32"]
        return place in self.wide or (place not in self.makers and (tensor.role == WIDE or self.enters_wide))

    def _gives_wide(self, op: Op) -> bool:
        kind, weights = op.traits, self.weights[op] or op.inputs[-1:]
        if kind.converts == "back":
            return self.is_wide(op.inputs[1])
        if kind.converts and op.output.role in FLOATS and op.inputs[0].role != op.output.role:
            return op.output.role == WIDE
        if op in self.quantised:
            return self.is_wide(op.inputs[0])
        if kind.reads_rows or kind.autocast == "weight":  # a table, or matrices that are multiplied in their own format
            return any(map(self.is_wide, weights))
        if kind.autocast:
            return kind.autocast == "fp32"
        is_bias = kind.joins_product and op.inputs[0] in self.products  # cast with the product that it is added to
        read = [one for one in self.numbers[op] if one.role in FLOATS or not is_bias]
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
            all(map(self._is_made_of_nothing, self.numbers[one])) and self._is_for_products(one.output)
            for one in others
        )

    def _is_made_of_nothing(self, tensor: Tensor) -> bool:
        place = tensor.storage
        if place not in self.of_nothing:
            made = self.makers.get(place)
            self.of_nothing[place] = made is not None and all(map(self._is_made_of_nothing, self.numbers[made]))
        return self.of_nothing[place]

    def lines(self, op: Op) -> Iterator[Op]:
        """Behind the casts of what it reads, and before that of its result."""
        output, beside = self.tensor(op.output), {name: self.tensor(one) for name, one in op.beside.items()}
        for name, one in op.beside.items():
            if one.role == "upcast" and self.is_wide(op.output):
                beside[name] = Tensor(one.axes, "none")  # no fp32 copy is made where what is read is fp32
        wanted = "" if op.traits.reads_rows else {"narrow": NARROW, "fp32": WIDE}.get(op.traits.autocast, "")
        if op.traits.autocast == "weight":
            wanted = WIDE if any(map(self.is_wide, self.weights[op] or op.inputs[-1:])) else NARROW
        inputs = {one: self.tensor(one) for one in op.inputs}
        for one in inputs:
            if wanted and one.role in FLOATS and self.is_wide(one) != (wanted == WIDE):
                copied = Tensor(one.axes, wanted)
                yield Op("cast", (inputs[one],), copied)
                inputs[one] = copied
        kind = SOFTMAX.get(op.kind, op.kind) if output.role == WIDE else op.kind
        made = replace(op, kind=kind, inputs=tuple(inputs[one] for one in op.inputs), output=output, beside=beside)
        if op in self.quantised and self.is_wide(op.inputs[0]):
            narrow = Tensor(output.axes, NARROW)
            yield replace(made, output=narrow, name="", note="", title="")
            made = Op("cast", (narrow,), output, name=op.name, note=op.note, title=op.title)
        yield made

    def tensor(self, tensor: Tensor) -> Tensor:
        if tensor in self.found:
            return self.found[tensor]
        found = tensor
        if not isinstance(tensor.storage, Param) and tensor.role in FLOATS:
            role = WIDE if self.is_wide(tensor) else NARROW
            of = self.tensor(tensor.of) if tensor.of else None
            if of is not tensor.of or role != tensor.role:
                found = replace(tensor, role=role, of=of)
        self.found[tensor] = found
        return found
