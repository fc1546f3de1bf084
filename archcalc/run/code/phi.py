"""What the variables of Phi's functions hold. Source: transformers, models/phi/modeling_phi.py."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.run.code import eager
from archcalc.run.code.attention_parts import core_of, looked_at, see_by_head, stores_scores, weights_of
from archcalc.run.code.frames import Frame
from archcalc.run.code.kernels import lower_kernel
from archcalc.run.code.model_frame import hold_hidden_states, model_frames
from archcalc.run.code.partial_rotary import rotate_parts
from archcalc.run.code.positions import places
from archcalc.run.code.writing import end_of_scope


def add_scopes(root: Module, *, narrow: bool) -> None:
    """PhiModel.forward: places, the mask, the tables of positions and the embedding behind its dropout."""
    for model in model_frames(root, narrow=narrow):
        lines, counted = places(model.embedded.dims[1])
        model.before_dropout(lines)
        made = [*model.make_masks(), *model.make_tables(counted)]
        for block in model.blocks:
            _end_block(Frame(block), counted, narrow=narrow)
        model.until_end(model.embedded, counted, *made)
    hold_hidden_states(root)


def _end_block(frame: Frame, counted: Tensor, *, narrow: bool) -> None:
    """PhiDecoderLayer.forward: `hidden_states` is what both branches are given, until their outputs are added."""
    attention, _ = frame.branches
    weights, given = weights_of(attention), [frame.given_out(branch) for branch in frame.branches]
    taken = frame.taken(attention)
    _lower_attention(attention, narrow=narrow)
    frame.add_in_steps()
    frame.until_end(frame.given, taken, counted, *given, *weights)


def _lower_attention(attention: Module, *, narrow: bool) -> None:
    """PhiAttention.forward holds both parts of queries and keys, the rotated and the other, and what is made of them.

    Gradients of parts come by head, and are copied to be those of a linear layer's output."""
    looked, core = looked_at(attention), core_of(attention)
    held = [looked.query, looked.key, looked.value]
    by_head = [op.inputs[0] for op in attention.ops if op.traits.position_tables]
    for tensor in (*by_head, *([looked.value] if stores_scores(attention) else [])):
        see_by_head(attention, tensor)
    turned = rotate_parts(attention, narrow=narrow)
    lower_kernel(attention)
    if core:
        eager.lower_core(core, narrow=narrow)
    attention.body.extend(end_of_scope(*held, *by_head, *turned))
