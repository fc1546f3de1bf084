"""Memory that does not depend on the batch: weights, master weights, gradients and optimizer states, parameter by
parameter, on the GPU that holds most of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from archcalc.core.execution import Trainable, never
from archcalc.core.ir import Module, Param, walk
from archcalc.core.mesh import ALIGNED, Plan
from archcalc.core.precision import BYTES, Policy
from archcalc.core.roles import Role
from archcalc.network import Network
from archcalc.run import lora
from archcalc.run.optimizers import Optimizer
from archcalc.run.precision_recipes import Recipe
from archcalc.run.resolved import Run
from archcalc.storage.places import Facts, Place, facts
from archcalc.storage.weight_storage import WeightStorage

FLAT = (1, 2)  # stages of ZeRO that divide one flat buffer
KINDS = ("weights", "master", "gradients", "optimizer")
SHARDED = {0: (), 1: ("master", "optimizer"), 2: ("master", "optimizer", "gradients"), 3: KINDS}


@dataclass(frozen=True)
class Held:
    """The bytes that one parameter, in all its copies, takes on one GPU."""

    param: Param
    copies: int
    elements: int  # of one copy, on one GPU of a tensor-parallel group, before ZeRO
    weights: int
    master: int = 0
    gradients: int = 0
    optimizer: int = 0
    padding: int = 0  # of all that, what FSDP2 allocates and never fills, over all GPUs


@dataclass(frozen=True)
class Keeping:
    """How parameters are stored."""

    plan: Plan
    format: WeightStorage
    rest: str  # what the format does not quantise is kept in
    trainable: Trainable
    recipe: Recipe | None = None  # None: inference
    optimizer: Optimizer | None = None
    model: Facts = field(default_factory=Facts)
    as_stored: bool = False  # in the bytes that a file of weights says, where it says them

    def weights(self, place: Place, elements: int) -> int:
        """Bytes of all copies; what is trained is in the recipe's number format, and never quantised."""
        param = place.param
        if self.recipe and self.trained(param):
            return place.copies * elements * BYTES[self.recipe.weights]
        if self.as_stored and param.stored is not None:
            return place.copies * param.stored
        if not self.format.holds(place):
            return place.copies * elements * BYTES[self.rest]
        whole, size = self.format.total(place, self.model, self.plan), self.plan.size(param)
        return whole if elements == size else -(-whole * elements // size)

    def quantised(self, param: Param) -> bool:
        """Whether it is stored quantised, and dequantised for its matrix products."""
        return self.format.is_quantised and self.format.holds(Place(param, 1)) and not self.trained(param)

    def trained(self, param: Param) -> bool:
        """Not what nothing reads: it has no gradient, and so no optimizer states."""
        return self.recipe is not None and self.trainable(param) and param.weight_role is not Role.SPARE

    def of(self, param: Param, copies: int) -> Held:
        """All bytes of a parameter: weights, master weights, gradients and optimizer states."""
        plan, recipe, optimizer, place = self.plan, self.recipe, self.optimizer, Place(param, copies)
        elements = plan.size(param)
        here = plan.sharded(param) if plan.zero == 3 else elements
        kept, sums = dict[str, int](), list[int]()
        for number in dict.fromkeys((elements, here)):  # undivided, then what this GPU has
            kept = {"weights": self.weights(place, number)}
            if recipe and optimizer and self.trained(param):
                kept["master"] = copies * number * BYTES[recipe.master] if recipe.master else 0
                kept["gradients"] = copies * number * BYTES[recipe.gradients]
                kept["optimizer"] = copies * optimizer.states(param, number, BYTES[recipe.states])
            sums.append(sum(kept.values()))
        padding = plan.shards * sums[-1] - sums[0] if plan.zero == 3 else 0
        if optimizer and "optimizer" in kept and plan.zero not in FLAT:
            kept["optimizer"] += copies * optimizer.counters  # of steps, on every GPU
        return Held(param, copies, elements, **kept, padding=padding)


def keeping_of(model: Network, tree: Module, run: Run) -> Keeping:
    """How a run stores the parameters of a model, and which it trains; `tree` was traced for it."""
    rest = run.format.rest or (run.recipe.frozen if run.recipe else run.activations)
    fused = getattr(model.spec, "fused_qkv", False)  # of transformers alone
    known, as_stored = facts(tree, fused_qkv=fused), "weights" not in run.said
    trainable: Trainable = never
    if run.trains:
        trainable = lora.is_adapter if run.lora else lora.all_but(tree, run.freeze)
    return Keeping(run.plan, run.format, rest, trainable, run.recipe, run.optimizer, known, as_stored)


@dataclass(frozen=True)
class ParameterMemory:
    """Every parameter with its weights, gradients and optimizer states, in the order of the tree, and their sums."""

    plan: Plan
    held: tuple[Held, ...]
    states: dict[str, int]  # weights, master weights, gradients and optimizer states, when all of them are there
    buffers: int

    @property
    def weights(self) -> int:
        """Bytes of all parameters and buffers."""
        return self.states["weights"] + self.buffers

    def blocks(self, kind: str) -> Iterator[int]:
        """Allocations: one for each copy of each parameter, or one flat buffer of all, where ZeRO-1 or -2 divides
        such."""
        if self.plan.zero in FLAT and kind in SHARDED[self.plan.zero]:
            yield self.states[kind]
            return
        for held in self.held:
            size = getattr(held, kind) // held.copies
            yield from (size for _ in range(held.copies) if size)


def parameter_memory(root: Module, keeping: Keeping, activations: str) -> ParameterMemory:
    """Memory that does not depend on the batch; `activations` is the dtype of buffers."""
    found = tuple(keeping.of(param, int(copies)) for module, copies in walk(root) for param in module.params.values())
    plan, policy, buffers = keeping.plan, Policy(activations), 0
    for module, copies in walk(root):  # once for each copy of a layer: as a file of weights stores it, else by its role
        for buffer in () if keeping.format.has_buffers else module.buffers.values():
            size = policy.bytes_of(buffer.role) * int(buffer.size) if buffer.stored is None else buffer.stored
            buffers += int(copies) * size
    sums = {kind: sum(getattr(one, kind) for one in found) for kind in KINDS}
    if plan.zero in FLAT:  # one flat buffer, padded once; experts that are dealt out have one of their own
        alike: dict[int, list[Held]] = {}  # by the number of GPUs that hold the same ones
        for one in found:
            alike.setdefault(plan.shards_of(one.param), []).append(one)
        for kind in SHARDED[plan.zero]:
            numbers = {shards: sum(getattr(one, kind) for one in held) for shards, held in alike.items()}
            sums[kind] = sum(flat(numbers[shards], held, keeping, shards) for shards, held in alike.items())
    return ParameterMemory(plan, found, sums, buffers)


def flat(number: int, parameters: Iterable[Held], keeping: Keeping, shards: int) -> int:
    """One GPU's slice of so many bytes: all trained elements in a row, padded, in equal slices."""
    elements = sum(one.copies * one.elements for one in parameters if keeping.trained(one.param))
    slices = ALIGNED * shards
    padded = -(-elements // slices) * slices
    return -(-number * padded // (elements * shards)) if elements else 0
