"""The kinds of op in which GPUs exchange something: collectives, products around which there are some, pipeline stages.

`archcalc.core.ops` has all other kinds, and explains the properties of each.
"""

from __future__ import annotations

from archcalc.core import op_costs as costs
from archcalc.core.op_kind import Gradient, Kind

BETWEEN_GPUS = {
    "all_gather": Kind(
        "the parts that GPUs hold of a sequence, put together on each of them",
        own_kernel=True,
        gradient=Gradient(passes=True),
        collective="gather",
    ),
    "reduce_scatter": Kind(
        "partial results of GPUs, added up and divided along the sequence",
        own_kernel=True,
        gradient=Gradient(passes=True),
        expensive=True,
        collective="scatter",
    ),
    "all_to_all": Kind("rows or heads exchanged with other GPUs, as many as are given", own_kernel=True),
    "gathering_linear": costs.PRODUCT._replace(
        about="a matrix product over parts of a sequence, gathered for it and once more in its backward pass",
        scratch=costs.its_whole_input,
        gradient=Gradient(scratch=costs.its_whole_input_and_gradient),
    ),
    "buffered_linear": costs.PRODUCT._replace(
        about="the same, gathered into a buffer that stays",
        gradient=Gradient(scratch=costs.its_whole_input),
        collective="buffer",
    ),
    "scattering_linear": costs.PRODUCT._replace(
        about="a matrix product whose partial results GPUs add up and divide along the sequence",
        scratch=costs.its_whole_output,
        gradient=Gradient(scratch=costs.its_whole_output),
    ),
    "send": Kind("the last hidden states of a pipeline stage, handed to the next", role="none"),
    "receive": Kind("hidden states from the pipeline stage before", own_kernel=True, leaf=True),
}
