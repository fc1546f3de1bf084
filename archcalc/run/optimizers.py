"""Optimizers: the states of each per parameter, and the temporary memory of a step.

    momentum, lion   one value for each weight
    adam, adamw      two
    adamw-paged      two of fp32, in memory that CUDA moves to the host and back: not in PyTorch's allocator
    adam8bit         two of one byte each, and an fp32 scale for every 256; a small parameter keeps fp32
    adafactor        of a matrix one value for each row and each column, of a vector one for each weight
    muon             one for each weight of the blocks' matrices; adamw for tables, head, norms and biases

A step of `foreach` optimizers, PyTorch's default on a GPU, computes the update of all parameters at once, so that
Adam's needs the size of all of them for a moment; `adamw-for-loop` (foreach=False) needs that of one after the other,
and a fused one (adamw-fused, and those that keep master weights) nothing. Scalars that count steps live in the host's
memory, but for those of fused kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import ModuleGroup, Param
from archcalc.core.roles import Role

BLOCK = 256  # weights that share a scale in bitsandbytes' blockwise optimizers
SMALL = 4096  # elements below which bitsandbytes keeps fp32 states

States = Callable[[Param, int, int], int]  # parameter, its elements here, bytes of a state -> bytes


@dataclass(frozen=True)
class Optimizer:
    """`update` says how many values a step needs for each weight while it runs."""

    name: str
    states: States
    update: int = 0
    counters: int = 0  # bytes on the GPU that count steps, for each tensor that is updated
    one_by_one: bool = False  # of one parameter after the other, not of all at once
    estimate: str = ""


def _values(number: int) -> States:
    return lambda param, elements, width: number * elements * width


def _blockwise(param: Param, elements: int, width: int) -> int:
    if elements < SMALL:
        return 2 * elements * 4
    return 2 * (elements + 4 * -(-elements // BLOCK))


def _factored(param: Param, elements: int, width: int) -> int:
    """Over the last two axes, as PyTorch keeps the parameter."""
    if len(param.axes) < 2:
        return elements * width
    *_, rows, columns = param.shape
    whole = 1
    for size in param.shape:
        whole *= size
    return (whole // columns + whole // rows) * elements // whole * width


def _orthogonal(param: Param, elements: int, width: int) -> int:
    role, is_hidden = param.weight_role, param.owner.group != ModuleGroup.HEAD
    is_matrix = len(param.axes) == 2 and not role.is_table and role not in (Role.NORM, Role.BIAS)
    return (1 if is_matrix and is_hidden else 2) * elements * width


_ADAFACTOR = "Adafactor: libraries differ in what they factor and whether they keep a first moment (none is counted)"
_MUON = "Muon: libraries differ in which parameters are left to AdamW"
_8BIT = "8-bit Adam: by bitsandbytes' layout, blocks of 256"

OPTIMIZERS = {
    optimizer.name: optimizer
    for optimizer in (
        Optimizer("sgd", _values(0)),
        Optimizer("momentum", _values(1)),
        Optimizer("adam", _values(2), update=1),
        Optimizer("adamw", _values(2), update=1),
        Optimizer("adamw-for-loop", _values(2), update=1, one_by_one=True),
        Optimizer("adamw-fused", _values(2), counters=4),  # an fp32 number
        Optimizer("adamw-paged", _values(0)),
        Optimizer("adam8bit", _blockwise, estimate=_8BIT),
        Optimizer("adafactor", _factored, estimate=_ADAFACTOR),
        Optimizer("lion", _values(1), update=1),
        Optimizer("muon", _orthogonal, estimate=_MUON),
    )
}
ALIASES = {
    "paged-adamw": "adamw-paged",
    "pagedadamw": "adamw-paged",
    "sgd-momentum": "momentum",
    "adamw8bit": "adam8bit",
    "8bit-adam": "adam8bit",
    "adam-8bit": "adam8bit",
}


def optimizer(name: str) -> Optimizer:
    """An optimizer by its name, whatever its case."""
    wanted = name.lower().replace("_", "-")
    wanted = ALIASES.get(wanted, wanted)
    if wanted not in OPTIMIZERS:
        raise InputError(f"no optimizer called {name}", did_you_mean(wanted, OPTIMIZERS), field="--optimizer")
    return OPTIMIZERS[wanted]
