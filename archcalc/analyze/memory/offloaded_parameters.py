"""Parameters in two places: what of them is left on the GPU, and what one GPU's process keeps in host RAM.

Training with the optimizer in host RAM is DeepSpeed's (`archcalc.analyze.memory.deepspeed_host`).
Parameters alone are FSDP2's CPUOffloadPolicy: shards, their gradients and the optimizer's states, the first two pinned.
Source: PyTorch, torch/distributed/fsdp/_fully_shard/_fsdp_param.py and _fsdp_collectives.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from archcalc.analyze.memory.deepspeed_host import deepspeed_host, pinned_rounding, trained_bytes
from archcalc.analyze.memory.residence import Residence
from archcalc.analyze.memory.states import Held, Keeping, ParameterMemory
from archcalc.core.errors import InputError
from archcalc.core.mesh import Plan

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
    held = (one for one in parameters.held if offload.embedding and not one.param.owner.medium)
    tables = [one for one in held if one.param.weight_role.is_table]
    in_host: dict[str, int] = {}
    if offload.optimizer:
        in_host = deepspeed_host(parameters, keeping, offload, accumulate)
    elif offload.params:
        in_host = _fsdp_host(parameters)
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
    return Apart(left, in_host, trained_bytes(parameters, keeping, is_master=False))


def _without(parameters: ParameterMemory, kinds: Iterable[str], gone: Iterable[Held]) -> ParameterMemory:
    """The parameters with some kinds of some of them taken away."""
    params, zeros = {one.param for one in gone}, dict[str, Any](dict.fromkeys(kinds, 0))
    held = tuple(replace(one, padding=0, **zeros) if one.param in params else one for one in parameters.held)
    states = dict(parameters.states)
    states |= {kind: sum(getattr(one, kind) for one in held) for kind in zeros}
    return replace(parameters, held=held, states=states)


def _fsdp_host(parameters: ParameterMemory) -> dict[str, int]:
    pinned = 0
    for one in parameters.held:
        for size in (one.weights // one.copies, one.gradients // one.copies):
            pinned += one.copies * pinned_rounding(size)
    return {**{kind: parameters.states[kind] for kind in ("weights", *UPDATED)}, "pinned": pinned}


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
