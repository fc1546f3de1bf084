"""Python's functions around the layers of transformers' decoders: what their variables hold until they return.

A module's `forward` is given tensors that its caller holds meanwhile, and holds what it assigns to variables. Where a
backward pass saves those anyway this changes nothing; under checkpointing, or beside frozen weights, it does.
Source: transformers, LlamaModel, LlamaDecoderLayer and LlamaAttention, as its other decoders are written too.
"""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.core.roles import Role
from archcalc.core.tree import read_from_outside
from archcalc.run.code import eager
from archcalc.run.code.attention_parts import (
    attentions,
    core_of,
    looked_at,
    made_by,
    see_by_head,
    stores_scores,
    weights_of,
)
from archcalc.run.code.frames import Frame
from archcalc.run.code.model_frame import hold_hidden_states, model_frames
from archcalc.run.code.writing import end_of_scope


def normalise_at_once(root: Module) -> None:
    """Queries and keys, each behind its projection.

    Source: transformers, Qwen3Attention.forward."""
    for attention in attentions(root):
        for norm in [child for child in attention.children if _is_norm(child)]:
            (given, *_) = read_from_outside(norm)
            attention.body.remove(norm)
            place = next(place for place, item in enumerate(attention.body) if given.storage in made_by(item))
            attention.body.insert(place + 1, norm)


def _copied_back(attention: Module) -> list[Tensor]:
    """What comes back by head: from products of stored scores, and from keys and values that were repeated; a kernel's
    own gradients lie as what it was given."""
    looked, core = looked_at(attention), core_of(attention)
    if stores_scores(attention):
        return [looked.query, looked.key, looked.value]
    repeated = {op.inputs[0] for op in core.ops if eager.is_repeat(op)} if core else set()
    return [tensor for tensor in (looked.key, looked.value) if tensor in repeated]


def _projected(attention: Module, tensor: Tensor) -> Tensor:
    """What a projection made, perhaps in front of a norm: there the gradient is copied to the order of positions."""
    norms = (child for child in attention.children if _is_norm(child))
    given = (read_from_outside(norm)[0] for norm in norms if tensor.storage in made_by(norm))
    return next(given, tensor)


def _is_norm(module: Module) -> bool:
    params = module.params.values()
    return bool(params) and all(param.weight_role is Role.NORM for param in params)


def add_scopes(root: Module, *, narrow: bool, every_mask: bool = False) -> None:
    """LlamaModel.forward: embeddings, places, masks and tables of positions are held until it returns. `every_mask`: a
    mask without a window is made also where all layers look through one (Gemma3TextModel.forward)."""
    for model in model_frames(root, narrow=narrow):
        held = model.prepare(every_mask=every_mask) if model.has_tables else []
        for block in model.blocks:
            _end_block(Frame(block), held[:1])
            for attention in attentions(block):
                _end_attention(attention, narrow=narrow)
        model.until_end(model.embedded, *held)
    hold_hidden_states(root)


def _end_block(frame: Frame, places: list[Tensor]) -> None:
    """LlamaDecoderLayer.forward: `residual` is what it was given, which its caller holds too, and then the first sum;
    `hidden_states` is what a branch is given until that returns, and `_` attention's weights."""
    for branch in frame.branches:
        frame.until(branch, frame.taken(branch))
    weights = [tensor for branch in frame.branches for tensor in weights_of(branch)]
    frame.until_end(frame.given, *places, *(op.output for op in frame.sums[:-1]), *weights)


def _end_attention(attention: Module, *, narrow: bool) -> None:
    """LlamaAttention.forward: queries, keys and values, rotated by a function that holds what it was given."""
    looked, rotations = looked_at(attention), [op for op in attention.ops if op.traits.position_tables]
    if rotations:
        behind = attention.body.index(rotations[-1]) + 1
        attention.body[behind:behind] = end_of_scope(*(op.inputs[0] for op in rotations))
    attention.body.extend(end_of_scope(looked.query, looked.key, looked.value))
    rotated = {op.output for op in rotations}
    others = [tensor for tensor in _copied_back(attention) if tensor.storage not in rotated]
    for tensor in dict.fromkeys([*(op.inputs[0] for op in rotations), *others]):
        see_by_head(attention, _projected(attention, tensor))
    core = core_of(attention)
    if core:
        eager.lower_core(core, narrow=narrow)
