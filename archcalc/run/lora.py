"""A change to a traced model: LoRA's low-rank adapters beside frozen weights.

They change the tree itself, so that every analysis sees them: parameters, FLOPs, saved activations, shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import product
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import Dim, Module, Op, Param, Tensor, walk
from archcalc.core.roles import Role
from archcalc.core.style import Adapted
from archcalc.styles.adapters import plain

USUAL_TARGETS = ("q", "v")  # Hu et al. 2021, arXiv:2106.09685, section 4.2
EVERY_LINEAR = frozenset({"all", "all-linear"})  # the second is peft's word
ADAPTER = "lora"


def matches(path: str, pattern: str) -> bool:
    """`attention`, `attention.q` and `decoder.blocks.attention.q` all name decoder.blocks.attention.q."""
    return f".{pattern}." in f".{path}."


def all_but(root: Module, patterns: Iterable[str]) -> Callable[[Param], bool]:
    """Whether a parameter is trained: not where a pattern names its module, or one above it."""
    paths = [module.path for module, _ in walk(root) if module.params]
    for pattern in patterns:
        if not any(matches(path, pattern) for path in paths):
            known = {name for path in paths for name in path.split(".")}
            raise InputError(f"no layer is called {pattern}", did_you_mean(pattern, known), field="--freeze")
    frozen = {path for path in paths if any(matches(path, pattern) for pattern in patterns)}
    if not frozen:
        return lambda param: param.trainable
    return lambda param: param.trainable and param.owner.path not in frozen


class _Linear(NamedTuple):
    """A matrix that a product reads, and the module that the product stands in."""

    module: Module
    op: Op
    weight: Param


class Lora(NamedTuple):
    """A change to a traced model: x·A·B, scaled, beside x·W of every linear layer that a target names, as the module's
    style computes it; but for layers of `frozen` modules, such as a tower."""

    rank: int
    targets: tuple[str, ...] = ()
    frozen: tuple[str, ...] = ()

    def __call__(self, root: Module) -> None:
        found = [one for module, _ in walk(root) for op in module.ops for one in _linears(module, op)]
        if not found:
            raise InputError("this model has no linear layer to adapt", "leave --lora out", field="--lora")
        wanted = self.targets or USUAL_TARGETS
        paths = {one: _paths(one.weight) for one in found}
        for target in wanted:
            if target not in EVERY_LINEAR and not any(matches(path, target) for one in found for path in paths[one]):
                names = {name for one in found for name in one.weight.owner.path.split(".")}
                hint = f"{did_you_mean(target, names)} (or all)"
                raise InputError(f"no linear layer is called {target}", hint, field="--lora-targets")
        every = not EVERY_LINEAR.isdisjoint(wanted)  # but the layer that gives the answer, which has to be named
        named = {one for one in found if any(matches(path, target) for path in paths[one] for target in wanted)}
        adapted = [one for one in found if one in named or (every and not one.weight.weight_role.gives_scores)]
        if not adapted:
            hint = f"name it: --lora-targets {found[0].weight.owner.name}"
            raise InputError("no linear layer but the last one is there to adapt", hint, field="--lora-targets")
        _check_rank(self.rank, adapted, every=every)
        _adapt(_unfrozen(root, adapted, self.frozen), Dim.of("lora_rank", self.rank))


def _unfrozen(root: Module, adapted: list[_Linear], frozen: tuple[str, ...]) -> list[_Linear]:
    """Those in none of the frozen modules, each of which has some."""
    all_but(root, frozen)  # refuses what no module is called
    for pattern in frozen:
        if not any(matches(one.weight.owner.path, pattern) for one in adapted):
            fact = f"with --lora everything but the adapters is frozen already, and {pattern} has none"
            raise InputError(fact, "leave --freeze out", field="--freeze")
    left = [one for one in adapted if not any(matches(one.weight.owner.path, pattern) for pattern in frozen)]
    if not left:
        raise InputError("every layer with an adapter is frozen", "leave --freeze out", field="--freeze")
    return left


def _linears(module: Module, op: Op) -> list[_Linear]:
    """Products with the module's own matrix, or with those of the layers beside it; no recurrent cell's: libraries
    adapt linear layers."""
    if not op.traits.contraction:
        return []
    params = [one for one in op.inputs if isinstance(one, Param) and one.weight_role.is_linear and len(one.axes) == 2]
    own = [one for one in params if one.owner is module or one.owner.parent is module.parent is not None]
    return [_Linear(module, op, one) for one in own if one.owner.takes_adapters]


def _paths(weight: Param) -> tuple[str, ...]:
    """Of a matrix: that of its module, those of the layers in whose place it stands, and what checkpoints call them:
    `decoder.blocks.attention.q_proj`."""
    from archcalc.storage.checkpoint import modules
    from archcalc.storage.places import Place

    module = weight.owner
    above = module.path.removesuffix(module.name)
    called = (name.rpartition(".")[2] for name in modules(Place(weight, 1)))
    return (module.path, *(f"{above}{name}" for name in (*module.words.stands_for, *called)))


def _check_rank(rank: int, adapted: list[_Linear], *, every: bool) -> None:
    """Adapters of a rank above the smaller side of a matrix have more weights than the matrix.

    With `--lora-targets all` one matrix may be that small, such as a router of few experts, but not every one.
    """
    sides = {one.weight.owner.path: min(Tensor((axis,)).size for axis in one.weight.axes) for one in adapted}
    name = max(sides, key=lambda path: sides[path]) if every else min(sides, key=lambda path: sides[path])
    if rank > sides[name]:
        fact = f"rank {rank:,} is not low: the smaller side of {name} is {sides[name]:,}"
        raise InputError(fact, f"use a rank of at most {sides[name]:,}, such as --lora 16", field="--lora")


def _adapt(linears: list[_Linear], rank: Dim) -> None:
    """In a module of its own; a weight that is used again is adapted by the same two matrices."""
    matrices: dict[Param, tuple[Param, Param]] = {}
    by_op: dict[Op, list[Adapted]] = {}
    modules = {one.op: one.module for one in linears}
    for _, op, weight in linears:
        lora = weight.owner.child(_free_name(weight.owner, weight))
        if weight.owner.words.stands_for:
            parts = ", ".join(weight.owner.words.stands_for)
            text = f"LoRA: {parts} are one matrix in this code, which is adapted as a whole"
            lora.words.work_notes.append(Assumption(Topic.CODE, text))
        if weight not in matrices:
            elements = product(dim.size for dim in op.over) * rank.size
            down = lora.param("a", rank, op.over, elements=elements, role=Role.ADAPTER)
            matrices[weight] = down, lora.param("b", weight.axes[0], rank, role=Role.ADAPTER)
        by_op.setdefault(op, []).append(Adapted(weight, lora, *matrices[weight]))
    for op, adapted in by_op.items():
        module = modules[op]
        items = (module.style.adapter or plain)(module, op, adapted)
        for one in adapted:
            if one.lora in one.weight.owner.body:
                one.weight.owner.body.remove(one.lora)
        place = module.body.index(op)
        module.body[place : place + 1] = items


def _free_name(module: Module, weight: Tensor) -> str:
    """`lora`; where a module has several weights, or uses one twice, with the weight's name and a number."""
    taken = {child.name for child in module.children}
    named = f"{ADAPTER}_{getattr(weight, 'name', 'weight')}"
    wanted = (ADAPTER, named, *(f"{named}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in wanted if name not in taken)


def is_adapter(param: Param) -> bool:
    return param.weight_role is Role.ADAPTER
