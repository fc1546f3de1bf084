"""What eager attention of a transformers class saves for backward around its softmax.

The class runs on the meta device at a length that no width of the model has, so that a softmax over scores is known by
its last two dims. Other tensors are not compared: transformers writes norms and rotations out in its own way.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from math import prod
from typing import Any

import torch

from archcalc.analyze.memory.activations import saved_activations
from archcalc.core.execution import runs
from archcalc.core.ir import Region, Tensor, walk
from archcalc.reference.lifetimes import Lifetimes
from archcalc.report.of_verify import Row
from archcalc.spec.workload import Workload
from archcalc.verify.hf.built import Built
from archcalc.verify.hf.forward import without_values

LENGTHS = (11, 13, 17, 19, 23)
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
Sizes = set[tuple[int, tuple[int, int]]]  # elements, and the last two dims


def scores_rows(built: Built, work: Workload, group: str) -> list[Row]:
    """One row per precision; none for a model without attention scores. Passes on any error of the class."""
    short = _short(built, work)
    root = built.model.build(short)
    cores = [module for module, _ in walk(root) if module.region == Region.CORE]
    softmaxes = [op for core in cores for op in core.ops if op.traits.softmax]
    if not softmaxes:
        return []
    sizes = {_sizes(op.output) for op in softmaxes}
    made = {tensor for op in softmaxes for tensor in (op.output, *op.beside.values())}
    number = sum(int(run.times) for run in runs(root) if run.module.region == Region.CORE and run.op.traits.softmax)
    at = ", ".join(f"{name} {size}" for name, size in short.lengths.items())
    seen = {precision: _theirs(built, short, sizes, precision) for precision in TYPES}
    if any(ran != number for ran, _ in seen.values()):
        raise ValueError("its attention computes scores of a different shape")
    ours = {precision: saved_activations(root, precision).among(made).bytes for precision in TYPES}
    return [Row(f"eager softmax saved, {name}, {at}", ours[name], seen[name][1], group) for name in TYPES]


def _short(built: Built, work: Workload) -> Workload:
    """Two sequences; lengths that can be chosen are none of the model's widths."""
    limits = built.model.resolved.lengths
    params = (one for module, _ in walk(built.model.build(work)) for one in module.params.values())
    widths = {int(dim.size) for one in params for dim in one.dims}
    free = next(length for length in LENGTHS if not {length, length + 1} & widths)
    chosen = {name: min(free, limit.length or free) for name, limit in limits.items() if not limit.fixed}
    lengths = {name: chosen.get(name, size) for name, size in work.lengths.items()}
    return replace(work, batch=2, lengths=lengths, mode="forward", attention="eager")


def _sizes(tensor: Tensor) -> tuple[int, tuple[int, int]]:
    rows, columns = (int(dim.size) for dim in tensor.dims[-2:])
    return prod(int(dim.size) for dim in tensor.dims), (rows, columns)


def _theirs(built: Built, work: Workload, sizes: Sizes, precision: str) -> tuple[int, int]:
    """How many softmaxes ran, and the bytes of distinct storages that were saved of them.

    Without dropout, whose masks PyTorch keeps in other numbers on each device."""
    softmaxes, storages = Softmaxes(sizes), {}

    def pack(tensor: Any) -> Any:
        storages[tensor.untyped_storage()._cdata] = tensor
        return tensor

    module, given = built.module, built.inputs(work, "meta")
    as_given = {name: _as(tensor, TYPES[precision]) for name, tensor in given.items()}
    with ExitStack() as stack:
        stack.callback(lambda: module.to(torch.float32).requires_grad_(False))
        stack.enter_context(without_values())
        stack.enter_context(torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor))
        stack.enter_context(softmaxes)
        module.to(TYPES[precision]).requires_grad_(True)(**as_given)
    kept = [tensor for storage, tensor in storages.items() if storage in softmaxes.found]
    return softmaxes.number, sum(tensor.untyped_storage().nbytes() for tensor in kept)


class Softmaxes(Lifetimes):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """Storages of all softmaxes over scores, and of their copies in another precision; held, so that none is reused."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(in_place=False)
        self.sizes, self.found, self.number = sizes, dict[int, Any](), 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = super().__torch_dispatch__(func, types, args, kwargs)
        name = func.overloadpacket.__name__
        is_softmax = name == "_softmax" and (made.numel(), tuple(made.shape[-2:])) in self.sizes
        if is_softmax or (name == "_to_copy" and args[0].untyped_storage()._cdata in self.found):
            self.number += is_softmax
            self.found[made.untyped_storage()._cdata] = made
        return made


def _as(value: Any, dtype: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_as(one, dtype) for one in value)
    return value.to(dtype) if isinstance(value, torch.Tensor) and value.is_floating_point() else value
