"""What a training step keeps for its backward pass, to the byte as PyTorch keeps it: distinct storages, no parameters.

    kept = saved(root, Policy("bf16"))          recompute="core", "block" or "ops" keeps what enters those
    kept.bytes                                  with its working
    kept.pieces                                 storage by storage: which tensor, how many of it, for which op
    kept.of(module)                             the share that the ops of one module, and below it, keep

A storage is counted where it is first kept. What a repeated block makes is kept once a run; what it only reads from
outside (the encoder's output, a mask) once in all. A block that keeps its input keeps, from the second run on, the
output of the run before: `n` blocks keep what entered the first and `n - 1` outputs. A kernel keeps what goes in.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from archcalc.analyze.flops.cost import above
from archcalc.core.count import Count, total
from archcalc.core.execution import Gradients, Trainable, by_spec
from archcalc.core.ir import Module, Op, Param, Tensor
from archcalc.core.kernels import as_op, is_kernel
from archcalc.core.precision import Policy
from archcalc.core.recomputation import is_recomputed, results


@dataclass(frozen=True)
class Kept:
    """A storage that is kept, in `number` instances, first for an op of `module`."""

    tensor: Tensor
    number: Count
    module: Module
    op: Op | None  # None: kept as what enters a stretch that is recomputed


@dataclass(frozen=True)
class Saved:
    """Everything that is kept, and what an element takes."""

    pieces: tuple[Kept, ...]
    policy: Policy

    def bytes_of(self, piece: Kept) -> Count:
        """How many bytes, with the working: instances × elements × bytes of one."""
        return piece.number * piece.tensor.size * Count(self.policy.bytes_of(piece.tensor.role))

    @cached_property
    def bytes(self) -> Count:
        """All of them."""
        return total(self.bytes_of(piece) for piece in self.pieces)

    def of(self, module: Module) -> Saved:
        """What the ops of a module, and of all it holds, are the first to keep."""
        return Saved(tuple(piece for piece in self.pieces if module in above(piece.module)), self.policy)


@dataclass(frozen=True)
class Earlier:
    """All instances but the last of a tensor that a run hands to the next one."""

    tensor: Tensor


Bag = dict[Tensor | Earlier, Kept]


def saved(root: Module, policy: Policy, *, trainable: Trainable = by_spec, recompute: str = "none") -> Saved:
    """What is kept between the forward and the backward pass."""
    return Saved(tuple(_Keeper(policy, Gradients(trainable), recompute).all_runs(root).values()), policy)


@dataclass
class _Keeper:
    policy: Policy
    gradients: Gradients
    recompute: str
    parts: set[Tensor] = field(default_factory=set)  # views that running modules were given, and hand on as tensors

    def all_runs(self, module: Module) -> Bag:
        stages = []
        entering = {into for into, _ in module.carries if into.base} - self.parts
        self.parts |= entering
        for cover in self.gradients.stages(module):
            bag = self.one_run(module)
            stages.append((bag, cover()))
        self.parts -= entering
        return _joined(module, stages, {part: part.within(self.parts) for part in entering}) if stages else {}

    def one_run(self, module: Module) -> Bag:
        bag: Bag = {}
        for item in module.body:
            found = self._by_item(item, module)
            for key, kept in found.items():
                bag.setdefault(key, kept)
        return self._entering(module, wanted=bool(bag)) if is_recomputed(module, self.recompute) else bag

    def _entering(self, module: Module, wanted: bool) -> Bag:
        """What a stretch that is recomputed reads, and those of its results that are kept."""
        bag: Bag = {tensor: Kept(tensor, Count(1), module, None) for tensor in _read_from_outside(module)}
        for result in results(module, self.recompute) if wanted else ():
            bag |= {tensor: Kept(tensor, Count(1), result.module, result.op) for tensor in result.tensors}
        return bag

    def _by_item(self, item: Op | Module, module: Module) -> Bag:
        if is_kernel(item):
            return self._by_op(as_op(item), item)
        return self.all_runs(item) if isinstance(item, Module) else self._by_op(item, module)

    def _by_op(self, op: Op, module: Module) -> Bag:
        self.gradients.follow(op)
        tensors = [tensor.within(self.parts) for tensor in op.traits.saves(op, self.gradients.wants, self.policy)]
        kept = [tensor for tensor in tensors if not isinstance(tensor.storage, Param)]
        return {tensor: Kept(tensor, Count(1), module, op) for tensor in kept}


def _joined(module: Module, stages: list[tuple[Bag, Count]], outside: dict[Tensor, Tensor]) -> Bag:
    """The bags of all runs as one; `outside` is what the parts that entered are parts of."""
    inside, carried = _made_inside(module), {out.storage: into for into, out in module.carries}
    bag: Bag = {}
    for stage, (once, times) in enumerate(stages):
        for key, kept in once.items():
            tensor = key.tensor if isinstance(key, Earlier) else key
            if key in carried:
                continue
            if tensor in inside:
                _add(bag, key, kept, times * kept.number)
            elif stage == 0 or tensor not in carried.values():
                whole = outside.get(tensor)
                bag.setdefault(whole or key, replace(kept, tensor=whole) if whole else kept)
    for out, into in carried.items():
        _add_carried(bag, out, into, stages)
    return bag


def _add_carried(bag: Bag, out: Tensor, into: Tensor, stages: list[tuple[Bag, Count]]) -> None:
    """An output is kept by its own run, or as the input of the next; the last one is known to what follows."""
    for (once, times), following in zip(stages, [*(bag for bag, _ in stages[1:]), None], strict=True):
        kept = once.get(out) or once.get(into)
        if kept and times > 1:
            _add(bag, Earlier(out), replace(kept, tensor=out), Count(int(times) - 1))
        last = once.get(out) or (following.get(into) if following is not None else None)
        if last:
            key = out if following is None else Earlier(out)
            _add(bag, key, replace(last, tensor=out), Count(1))


def _add(bag: Bag, key: Tensor | Earlier, kept: Kept, number: Count) -> None:
    before = bag[key].number if key in bag else Count(0)
    bag[key] = replace(kept, number=before + number if before else number)


def _made_inside(module: Module) -> set[Tensor]:
    return {tensor.storage for op in _ops(module) for tensor in (op.output, *op.beside.values())} - _bases(module)


def _bases(module: Module) -> set[Tensor]:
    """Views made inside of storages made outside."""
    own = {op.output for op in _ops(module)}
    return {op.output.storage for op in _ops(module) if op.output.base and op.output.base not in own}


def _read_from_outside(module: Module) -> list[Tensor]:
    inside = _made_inside(module)
    read = dict.fromkeys(tensor.storage for op in _ops(module) for tensor in op.inputs)
    return [tensor for tensor in read if tensor not in inside and not isinstance(tensor, Param)]


def _ops(module: Module) -> Iterable[Op]:
    for item in module.body:
        yield from _ops(item) if isinstance(item, Module) else (item,)
