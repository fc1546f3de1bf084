"""A learned bias for distances that the first block computes, behind its projections, and hands on to the others.

Source: transformers, T5Attention.forward.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.layers.attention_core import EAGER
from archcalc.run.code.attention_parts import attentions, core_of, looked_at, stores_scores
from archcalc.run.code.dropouts import role_of
from archcalc.run.code.efficient import lower_biased
from archcalc.run.code.habits import Habits
from archcalc.run.code.model_frame import ModelFrame
from archcalc.run.code.refusal import refused
from archcalc.run.code.relative_bias import distances, in_first_block, zeros_in_first_block
from archcalc.run.code.writing import end_of_scope


def lower_biases(model: ModelFrame, habits: Habits) -> list[Tensor]:
    """What is held until the stack returns."""
    if habits.position_bias == "host":
        _index_on_host(model.stack)
    if habits.position_bias != "first_block":
        return []
    first, *others = attentions(model.blocks[0]) or refused("blocks without attention")
    return [*_move_bias(model, first), *(_add_zeros(attention) for attention in others)]


def _index_on_host(stack: Module) -> None:
    """Rows of the table are chosen by indices that a cache keeps on the host. Source: BeitRelativePositionBias."""
    for module, _ in walk(stack):
        for place, item in enumerate(module.body):
            if isinstance(item, Op) and item.traits.reads_rows and role_of(item) is Role.POSITION_TABLE:
                places, *tables = item.inputs
                module.body[place] = replace(item, inputs=(Tensor(places.axes, "none"), *tables))


def _move_bias(model: ModelFrame, attention: Module) -> list[Tensor]:
    found: list[Tensor] = []
    for module in [child for child in model.stack.children if _looks_up_places(child)]:
        found.append(module.ops[0].output)
        _compute_in(attention, module.ops)
        model.stack.body.remove(module)
        module.body.clear()
    return found


def _looks_up_places(module: Module) -> bool:
    return any(role_of(op) is Role.POSITION_TABLE for op in module.ops)


def _compute_in(attention: Module, ops: tuple[Op, ...]) -> None:
    core = core_of(attention)
    assert core
    bias, causal = ops[-1].output, any(op.traits.hides for op in core.ops)
    lines, held = distances(ops[0].inputs[0], causal=causal)
    in_first_block(attention, core, [*lines, *ops, *end_of_scope(*held)])
    if EAGER in core.work_notes:  # a kernel was asked for, and there is one
        lower_biased(core, bias, causal=causal, lies_by_head=False)


def _add_zeros(attention: Module) -> Tensor:
    """Cross-attention adds a bias too, of zeros; the first block makes it."""
    core, looked = core_of(attention), looked_at(attention)
    assert core
    _, head, seq, _ = looked.query.dims
    zeros = Tensor(axes(head, seq, looked.key.dims[2]), looked.query.role)
    if stores_scores(attention):
        _add_to_scores(core, zeros)
    else:
        lower_biased(core, zeros, causal=False, lies_by_head=True)
    zeros_in_first_block(attention, core, zeros)
    return zeros


def _add_to_scores(core: Module, zeros: Tensor) -> None:
    scaled = core.ops[1]
    scores = Tensor(scaled.output.axes, scaled.output.role)
    place = core.body.index(scaled)
    core.body[place : place + 1] = [replace(scaled, output=scores), Op("add", (scores, zeros), scaled.output)]
