"""Parameters in two places: what of them is left on the GPU, and what one GPU's process keeps in host RAM.

Training with the optimizer in host RAM is DeepSpeed's ZeRO-Offload: the CPU updates fp32 master weights with fp32
gradients, both of which it keeps with the states, and casts the new weights into a buffer of the weights' dtype from
which they are copied to the GPU. With parameters there as well it is ZeRO-Infinity.
Source: DeepSpeed, deepspeed/runtime/zero/stage_1_and_2.py (single_partition_of_fp32_groups and its grad,
param_buffer_of_bit16_for_cpu_offload_groups), stage3.py (fp32_partitioned_groups_flat and its grad,
grad_partitions_flat_buffer). Issue 7693 measured 10 bytes a parameter before the first step, and 8 more after it.
Parameters alone are FSDP2's CPUOffloadPolicy: shards, their gradients and the optimizer's states, the first two pinned.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from archcalc.analyze.memory.residence import Residence
from archcalc.analyze.memory.states import FLAT, Held, Keeping, ParameterMemory, flat
from archcalc.core.errors import InputError
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.run.offload import Offload

UPDATED = ("master", "gradients", "optimizer")  # what an optimizer's step reads and writes besides the weights


@dataclass(frozen=True)
class Apart:
    """Parameters on one GPU, and the bytes of its process in host RAM by part."""

    on_gpu: ParameterMemory
    in_host: dict[str, int]
    updated: int = 0  # bytes of the weights that an optimizer in host RAM gives back


def apart(parameters: ParameterMemory, keeping: Keeping, residence: Residence, accumulate: int) -> Apart:
    """Everything is on the GPU unless it is offloaded; `accumulate` micro-batches are a step."""
    if keeping.recipe is None:
        return _answering(parameters, keeping, residence)
    offload = residence.offload
    tables = [one for one in parameters.held if offload.embedding and one.param.weight_role.is_table]
    in_host = _in_host(parameters, keeping, offload, accumulate) if offload.updates else {}
    gone = UPDATED if offload.updates else ()
    left = _without(parameters, ("weights", *gone) if offload.params else gone, parameters.held)
    if tables:
        if any(keeping.trained(one.param) for one in tables):
            fact = "an input table that is trained stays on the GPU with its gradient"
            raise InputError(fact, "add --freeze embedding or --lora 16, or leave embedding out", field="--offload")
        if any(one.param in residence.ends.behind for one in tables):
            fact = "the output layer multiplies with the input table, which stays on the GPU for it"
            raise InputError(fact, "leave embedding out", field="--offload")
        in_host["weights"] = sum(one.weights for one in tables)
        left = _without(left, ("weights",), tables)
    return Apart(left, in_host, _trained_bytes(parameters, keeping, is_master=False))


def _without(parameters: ParameterMemory, kinds: Iterable[str], gone: Iterable[Held]) -> ParameterMemory:
    """The parameters with some kinds of some of them taken away."""
    params, zeros = {one.param for one in gone}, dict[str, Any](dict.fromkeys(kinds, 0))
    held = tuple(replace(one, padding=0, **zeros) if one.param in params else one for one in parameters.held)
    states = dict(parameters.states)
    states |= {kind: sum(getattr(one, kind) for one in held) for kind in zeros}
    return replace(parameters, held=held, states=states)


def _in_host(parameters: ParameterMemory, keeping: Keeping, offload: Offload, accumulate: int) -> dict[str, int]:
    states = parameters.states
    weights = {"weights": states["weights"]} if offload.params else {}
    if not offload.optimizer:
        kept, pinned = {kind: states[kind] for kind in UPDATED}, 0
        for one in parameters.held:
            for size in (one.weights // one.copies, one.gradients // one.copies):
                # PyTorch's allocator of pinned memory rounds every block up to a power of two
                # Source: PyTorch, aten/src/ATen/core/CachingHostAllocator.h
                pinned += one.copies * ((1 << (size - 1).bit_length()) - size) if size else 0
        return {**weights, **kept, "pinned": pinned}
    wide, narrow = (_trained_bytes(parameters, keeping, is_master=is_master) for is_master in (True, False))
    sums = narrow if accumulate > 1 and keeping.plan.zero < 3 else 0  # of micro-batches: accumulated_grads_in_cpu
    kept = {"master": wide, "gradients": wide, "optimizer": states["optimizer"], "staging": narrow + sums}
    return {**weights, **kept}


def _trained_bytes(parameters: ParameterMemory, keeping: Keeping, *, is_master: bool) -> int:
    """All that this GPU updates, in the dtype of master weights or of weights."""
    plan, recipe, total = keeping.plan, keeping.recipe, 0
    assert recipe
    width = BYTES[(recipe.master if is_master else "") or recipe.weights]
    for one in parameters.held:
        if keeping.trained(one.param):
            total += one.copies * width * (plan.sharded(one.param) if plan.zero == 3 else one.elements)
    return flat(total, parameters.held, keeping, plan.shards) if plan.zero in FLAT else total


def _answering(parameters: ParameterMemory, keeping: Keeping, residence: Residence) -> Apart:
    """Weights in host RAM are whole, however many GPUs divide the rest."""
    whole, in_host, held = replace(keeping, plan=Plan()), 0, []
    for one in parameters.held:
        place = residence.in_host(one.param)
        if place:
            in_host += whole.weights(place, int(one.param.size))
        gone = keeping.weights(place, one.elements) if place and not residence.stays(one.param) else 0
        held.append(replace(one, weights=one.weights - gone))
    states = dict(parameters.states, weights=sum(one.weights for one in held))
    return Apart(replace(parameters, held=tuple(held), states=states), {"weights": in_host})
