"""What the variables of GPT-NeoX's functions hold. Source: transformers, models/gpt_neox/modeling_gpt_neox.py."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.run.code import eager
from archcalc.run.code.attention_parts import core_of, looked_at, weights_of
from archcalc.run.code.frames import Frame
from archcalc.run.code.kernels import lower_kernel
from archcalc.run.code.model_frame import hold_hidden_states, model_frames
from archcalc.run.code.partial_rotary import rotate_parts
from archcalc.run.code.positions import places
from archcalc.run.code.writing import end_of_scope


def add_scopes(root: Module, *, narrow: bool) -> None:
    """GPTNeoXModel.forward: the embedding, places, the mask and the tables of positions are held until it returns."""
    for model in model_frames(root, narrow=narrow):
        embedded = model.lookups[0].output
        lines, counted = places(embedded.dims[1])
        model.before_dropout(lines)
        made = [*model.make_masks(), *model.make_tables(counted)]
        for block in model.blocks:
            _end_block(Frame(block), counted, narrow=narrow)
        model.until_end(embedded, counted, *made)
    hold_hidden_states(root)


def _end_block(frame: Frame, counted: Tensor, *, narrow: bool) -> None:
    """GPTNeoXLayer.forward: what a branch is given is held until it returns, what it gives out until the block does;
    the block is given places, which it does not read."""
    attention, ffn = frame.branches
    weights, given = weights_of(attention), [frame.given_out(branch) for branch in frame.branches]
    if len(frame.sums) > 1:  # `attn_output` is the name of the first sum then
        given[0] = frame.sums[0].output
    taken = [frame.taken(branch) for branch in frame.branches]
    _lower_attention(attention, taken[0], narrow=narrow)
    ffn.body.extend(end_of_scope(taken[1]))
    frame.add_in_steps()
    frame.until_end(frame.given, counted, *given, *weights)


def _lower_attention(attention: Module, taken: Tensor, *, narrow: bool) -> None:
    """GPTNeoXAttention.forward holds `qkv` and what was made of it."""
    looked, core = looked_at(attention), core_of(attention)
    attention.body.extend(end_of_scope(taken, looked.query, looked.key, looked.value))
    rotate_parts(attention, narrow=narrow)
    lower_kernel(attention)
    if core:
        eager.lower_core(core, narrow=narrow)
