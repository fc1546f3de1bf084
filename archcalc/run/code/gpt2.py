"""What the variables of GPT-2's functions hold. Source: transformers, models/gpt2/modeling_gpt2.py."""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.run.code.attention_parts import looked_at, lower_attention, weights_of
from archcalc.run.code.frames import Frame
from archcalc.run.code.model_frame import hold_hidden_states, model_frames


def add_scopes(root: Module, *, narrow: bool) -> None:
    """GPT2Model.forward: embeddings, places and the mask are held until it returns."""
    for model in model_frames(root, narrow=narrow):
        places = [model.count_places(lookup) for lookup in model.lookups[1:]]
        made = model.make_masks()
        for block in model.blocks:
            _end_block(Frame(block), places, narrow=narrow)
        model.until_end(*(op.output for op in model.lookups), *places, *made)
    hold_hidden_states(root)


def _end_block(frame: Frame, places: list[Tensor], *, narrow: bool) -> None:
    """GPT2Block.forward, GPT2Attention.forward: `hidden_states` is what a branch is given until that is added; queries,
    keys and values are held until attention's dropout, `attn_output` and the weights until the block returns,
    which is given places that it does not read."""
    attention, ffn = frame.branches
    looked, weights = looked_at(attention), weights_of(attention)
    given_out = [frame.given_out(branch) for branch in frame.branches]
    frame.until(frame.behind(attention), looked.query, looked.key, looked.value)
    for branch, added in zip((attention, ffn), frame.sums, strict=True):
        frame.until(added, frame.taken(branch))
    frame.until_end(frame.given, *places, *given_out, *weights)
    lower_attention(attention, narrow=narrow)
