"""What the variables of ViT's functions hold. Source: transformers, models/vit/modeling_vit.py."""

from __future__ import annotations

from archcalc.core.ir import Module
from archcalc.run.code.attention_parts import looked_at, lower_attention, weights_of
from archcalc.run.code.frames import Frame
from archcalc.run.code.model_frame import model_frames
from archcalc.run.code.writing import end_of_scope


def add_scopes(root: Module, *, narrow: bool) -> None:
    """ViTModel.forward: `embedding_output` is held until it returns."""
    for model in model_frames(root, narrow=narrow):
        for block in model.blocks:
            end_block(Frame(block), narrow=narrow)
        model.until_end(model.embedded)


def end_block(frame: Frame, *, narrow: bool) -> None:
    """ViTLayer.forward: a branch holds what it is given until it returns, and attention queries, keys and values; the
    block holds the sum that it goes on with, and the weights."""
    attention, ffn = frame.branches
    looked, weights = looked_at(attention), weights_of(attention)
    held = [looked.query, looked.key, looked.value, frame.taken(attention)]
    lower_attention(attention, narrow=narrow, separately=True)
    ffn.body.extend(end_of_scope(frame.taken(ffn)))
    attention.body.extend(end_of_scope(*held))
    frame.until_end(frame.given, frame.sums[0].output, *weights)
