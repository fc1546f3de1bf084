"""The kinds of op in which GPUs exchange something: collectives, products around which there are some, pipeline stages.

`archcalc.core.ops` has all other kinds, and explains the properties of each.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.op_costs import (
    its_whole_input,
    its_whole_input_and_gradient,
    its_whole_output,
    multiply_add,
    none,
    nothing,
    other_factors,
)
from archcalc.core.op_kind import Kind

LINEAR = Kind(
    "a matrix product that is one op with the collectives around it",
    multiply_add,
    other_factors,
    matrix=True,
    contraction=True,
    autocast="narrow",
    own_kernel=True,
    expensive=True,
)
BETWEEN_GPUS = {
    "all_gather": Kind(
        "the parts that GPUs hold of a sequence, put together on each of them",
        none,
        nothing,
        own_kernel=True,
        passes_gradient=True,
        gathers=True,
    ),
    "reduce_scatter": Kind(
        "partial results of GPUs, added up and divided along the sequence",
        none,
        nothing,
        own_kernel=True,
        passes_gradient=True,
        expensive=True,
        scatters=True,
    ),
    "all_to_all": Kind("rows or heads exchanged with other GPUs, as many as are given", none, nothing, own_kernel=True),
    "gathering_linear": replace(
        LINEAR,
        about="a matrix product over parts of a sequence, gathered for it and once more in its backward pass",
        scratch=its_whole_input,
        gradient_scratch=its_whole_input_and_gradient,
    ),
    "buffered_linear": replace(
        LINEAR, about="the same, gathered into a buffer that stays", gradient_scratch=its_whole_input, into_buffer=True
    ),
    "scattering_linear": replace(
        LINEAR,
        about="a matrix product whose partial results GPUs add up and divide along the sequence",
        scratch=its_whole_output,
        gradient_scratch=its_whole_output,
    ),
    "send": Kind("the last hidden states of a pipeline stage, handed to the next", none, nothing, role="none"),
    "receive": Kind("hidden states from the pipeline stage before", none, nothing, own_kernel=True, leaf=True),
}
