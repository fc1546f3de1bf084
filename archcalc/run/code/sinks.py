"""Attention sinks as a factor behind eager attention, sigmoid(logsumexp(scores) − sink), in fp32.

Source: transformers, eager_attention_forward of GraniteSWA.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor
from archcalc.run.code.writing import WIDE, Lines


def scale_by_sinks(core: Module, *, narrow: bool) -> None:
    """In the place of one more score for each row; a kernel is left as it is."""
    several = [op for op in core.ops if len(op.inputs) > 1 and not op.traits.contraction]
    joins = [op for op in several if int(op.output.size) > int(op.inputs[0].size)]
    if joins:
        joined, softmax, weights = _around(core, joins[0])
        factor, lines = _factor(joined, narrow=narrow)
        place = core.body.index(joined)
        core.body[place : core.body.index(weights) + 1] = [
            *lines,
            replace(softmax, inputs=joined.inputs[:1], output=weights.output),
        ]
        _multiply_last(core, factor)


def _around(core: Module, joined: Op) -> tuple[Op, Op, Op]:
    """The sink beside the scores, softmax, and the weights without the sink's."""
    place = core.ops.index(joined)
    return joined, core.ops[place + 1], core.ops[place + 2]


def _factor(joined: Op, *, narrow: bool) -> tuple[Tensor, list[Op]]:
    scores, sinks = joined.inputs
    lines = Lines(narrow=narrow)
    sums = Tensor(scores.axes[:-1], scores.role)
    lines.ops.append(
        Op("length", (scores,), sums, scores.axes[-1])
    )  # keeps what it reads and what it gives, as logsumexp
    shifted = lines.cast(lines.do("subtract", sums, sinks), WIDE)
    return lines.cast(lines.do("sigmoid", shifted), scores.role), lines.ops


def _multiply_last(core: Module, factor: Tensor) -> None:
    *_, last = core.ops
    found = Tensor(last.output.axes, last.output.role)
    core.body[-1] = replace(last, output=found)
    core.body.append(Op("multiply", (found, factor), last.output))
