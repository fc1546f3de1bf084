"""Changes to a traced model: LoRA's low-rank adapters beside frozen weights, and a loss that is computed in fp32.

They change the tree itself, so that every analysis sees them: parameters, FLOPs, saved activations, shards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from math import prod

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.count import product
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import Axis, Dim, Module, Op, Param, Region, Tensor, walk
from archcalc.core.roles import Role

USUAL_TARGETS = ("q", "v")  # Hu et al. 2021, arXiv:2106.09685, section 4.2
EVERY_LINEAR = "all"
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


def add_lora(root: Module, rank: int, targets: tuple[str, ...] = ()) -> None:
    """Put x·A·B, scaled, beside x·W of every linear layer that a target names."""
    found = [(module, op) for module, _ in walk(root) for op in module.ops if _is_linear(module, op)]
    if not found:
        raise InputError("this model has no linear layer to adapt", "leave --lora out", field="--lora")
    wanted = targets or USUAL_TARGETS
    names = {name for module, _ in found for path in _paths(module) for name in path.split(".")}
    for target in wanted:
        if target != EVERY_LINEAR and not any(_is_named(module, target) for module, _ in found):
            hint = f"{did_you_mean(target, names)} (or all)"
            raise InputError(f"no linear layer is called {target}", hint, field="--lora-targets")
    adapted = [pair for pair in found if any(_is_meant(*pair, target) for target in wanted)]
    if not adapted:
        hint = f"name it: --lora-targets {found[0][0].name}"
        raise InputError("no linear layer but the last one is there to adapt", hint, field="--lora-targets")
    _check_rank(rank, adapted, every=EVERY_LINEAR in wanted)
    for module, op in adapted:
        _adapt(module, op, Dim.of("lora_rank", rank))


def _is_meant(module: Module, op: Op, target: str) -> bool:
    """`all` leaves out the layer that gives the answer, which has to be named."""
    last = any(isinstance(one, Param) and one.weight_role.gives_scores for one in op.inputs)
    return _is_named(module, target) or (target == EVERY_LINEAR and not last)


def _is_named(module: Module, target: str) -> bool:
    return any(matches(path, target) for path in _paths(module))


def _paths(module: Module) -> tuple[str, ...]:
    """Its own, and those of the layers in whose place it stands."""
    above = module.path.removesuffix(module.name)
    return (module.path, *(f"{above}{name}" for name in module.stands_for))


def _check_rank(rank: int, adapted: list[tuple[Module, Op]], *, every: bool) -> None:
    """Adapters of a rank above the smaller side of a matrix have more weights than the matrix.

    With `--lora-targets all` one matrix may be that small, such as a router of few experts, but not every one.
    """
    sides = {module.path: _smaller_side(op) for module, op in adapted}
    if not sides:
        return
    name = max(sides, key=lambda path: sides[path]) if every else min(sides, key=lambda path: sides[path])
    if rank > sides[name]:
        fact = f"rank {rank:,} is not low: the smaller side of {name} is {sides[name]:,}"
        raise InputError(fact, f"use a rank of at most {sides[name]:,}, such as --lora 16", field="--lora")


def _smaller_side(op: Op) -> int:
    weight = next(tensor for tensor in op.inputs if isinstance(tensor, Param))
    return min(prod(int(dim.size) for dim in axis) for axis in weight.axes)


@dataclass(frozen=True)
class Lora:
    """The same as a change that `Model.build` takes."""

    rank: int
    targets: tuple[str, ...] = ()

    def __call__(self, root: Module) -> None:
        add_lora(root, self.rank, self.targets)


def _is_linear(module: Module, op: Op) -> bool:
    """A product with the module's own matrix, which is no recurrent cell's: libraries adapt linear layers."""
    own = [one for one in op.inputs if isinstance(one, Param) and one.owner is module and one.weight_role.is_linear]
    return module.takes_adapters and op.traits.contraction and any(len(one.axes) == 2 for one in own)


def _adapt(module: Module, op: Op, rank: Dim) -> None:
    """In a module of its own; a weight that is used again is adapted by the same two matrices."""
    x, weight = op.inputs
    into = op.over
    lora = module.child(_free_name(module, weight))
    if module.stands_for:
        lora.work_notes.append(_as_a_whole(module))
    down, up = _matrices(module, lora, weight, into, rank)
    hidden = lora.record("contract", x, down, to=(*x.axes[:-1], (rank,)), over=into)
    change = lora.record("scale", lora.record("contract", hidden, up, to=op.output.axes, over=(rank,)))
    plain = Tensor(op.output.axes, op.output.role)
    place = module.body.index(op)
    module.body.remove(lora)
    joined = Op("add", (plain, change), op.output, name=op.name, note=op.note, title=op.title)
    module.body[place : place + 1] = [replace(op, output=plain, name="", note="", title=""), lora, joined]


def _as_a_whole(module: Module) -> Assumption:
    text = f"LoRA: {', '.join(module.stands_for)} are one matrix in this code, which is adapted as a whole"
    return Assumption(Topic.CODE, text)


def _free_name(module: Module, weight: Tensor) -> str:
    """`lora`; where a module has several weights, or uses one twice, with the weight's name and a number."""
    taken = {child.name for child in module.children}
    named = f"{ADAPTER}_{getattr(weight, 'name', 'weight')}"
    wanted = (ADAPTER, named, *(f"{named}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in wanted if name not in taken)


def _matrices(module: Module, lora: Module, weight: Tensor, into: Axis, rank: Dim) -> tuple[Param, Param]:
    """Those that the weight has already, or new ones."""
    for earlier, op in zip(module.body, module.body[1:], strict=False):
        again = isinstance(earlier, Op) and weight in earlier.inputs and isinstance(op, Module)
        if again and isinstance(op, Module) and any(map(is_adapter, op.params.values())):
            down, up = (inner.inputs[1] for inner in op.ops if inner.traits.contraction)
            assert isinstance(down, Param) and isinstance(up, Param)
            return down, up
    elements = product(dim.size for dim in into) * rank.size
    down = lora.param("a", rank, into, elements=elements, role=Role.ADAPTER)
    return down, lora.param("b", weight.axes[0], rank, role=Role.ADAPTER)


def is_adapter(param: Param) -> bool:
    return param.weight_role is Role.ADAPTER


def widen_loss(root: Module) -> None:
    """Compute the loss in fp32, as training libraries do with 16-bit logits."""
    for section, _ in walk(root):
        if section.region == Region.LOSS:
            section.body[:] = [new for op in section.ops for new in _widened(op)]


def _widened(op: Op) -> tuple[Op, ...]:
    logits, *rest = op.inputs
    wide = Tensor(logits.axes, "stat")
    beside = {name: Tensor(made.axes, "stat" if made.role == "act" else made.role) for name, made in op.beside.items()}
    return Op("copy", (logits,), wide), replace(op, inputs=(wide, *rest), beside=beside)
