"""Optimizers, read from presets/optimizers: the states of each per parameter, and the temporary memory of a step.

    optimizer("adamw").states(param, elements, 4)

A step of `foreach` optimizers, PyTorch's default on a GPU, computes the update of all parameters at once, so that
Adam's needs the size of all of them for a moment (`update`); one that goes through them one by one needs that of one
after the other, and a fused one nothing. Scalars that count steps live in the host's memory, but for those of fused
kernels (`counters`).
"""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.ir import ModuleGroup, Param
from archcalc.core.roles import Role
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node

FOLDER = "optimizers"
SCALE = 4  # bytes of the fp32 number that scales a block
Number = Annotated[int, Field(ge=0)]


class States(Node):
    """What is kept of a parameter: values for each weight, each row and each column, and for each pair of rows or of
    columns, as preconditioners have; in `bytes` each, if not as the precision recipe says; with a scale for a block."""

    values: Number = 0
    rows: Number = 0
    columns: Number = 0
    row_squares: Number = 0
    column_squares: Number = 0
    bytes: Number = 0
    block: Number = 0


class SmallStates(States):
    """The states of parameters with fewer elements than `below`."""

    below: Number


class Optimizer(Node):
    """`state` is of every parameter that no other field is about: `matrices` have two axes at least,
    `hidden_matrices` are those of the blocks."""

    name: str
    about: str
    source: str
    aliases: tuple[str, ...] = Field((), strict=False)
    state: States = States()
    small: SmallStates | None = None
    matrices: States | None = None
    hidden_matrices: States | None = None
    update: Number = 0  # values that a step needs for each weight while it runs
    counters: Number = 0  # bytes on the GPU that count steps, for each tensor that is updated
    one_by_one: bool = False  # of one parameter after the other, not of all at once
    estimate: str = ""

    def states(self, param: Param, elements: int, width: int) -> int:
        """What it keeps of a parameter of which `elements` are here, where a state has `width` bytes by the recipe.
        Rows and columns are those of the last two axes, as PyTorch keeps the parameter; a shard has its share."""
        role, axes, kept = param.weight_role, len(param.axes), self.state
        is_hidden = param.owner.group != ModuleGroup.HEAD and not role.is_table and role not in (Role.NORM, Role.BIAS)
        if self.small and elements < self.small.below:
            kept = self.small
        elif self.hidden_matrices and axes == 2 and is_hidden:
            kept = self.hidden_matrices
        elif self.matrices and axes > 1:
            kept = self.matrices
        scales, factors = SCALE * -(-elements // kept.block) if kept.block else 0, 0
        if axes > 1:
            *_, rows, columns = param.shape
            whole = math.prod(param.shape)
            by_line = kept.rows * (whole // columns) + kept.columns * (whole // rows)
            by_pair = kept.row_squares * (whole // columns * rows) + kept.column_squares * (whole // rows * columns)
            factors = (by_line + by_pair) * elements // whole
        return kept.values * (elements * (kept.bytes or width) + scales) + factors * (kept.bytes or width)


def optimizer(name: str) -> Optimizer:
    """An optimizer by its name or another that it has, whatever its case."""
    wanted, files = name.lower().replace("_", "-"), paths.presets(FOLDER)
    if wanted in files:
        return node(files[wanted], Optimizer)
    found = next((each for each in (node(file, Optimizer) for file in files.values()) if wanted in each.aliases), None)
    if found is None:
        raise InputError(f"no optimizer called {name}", did_you_mean(wanted, files), field="--optimizer")
    return found
