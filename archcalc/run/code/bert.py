"""What the variables of BERT's functions hold. Source: transformers, models/bert/modeling_bert.py."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.run.code.attention_parts import core_of, looked_at, lower_attention, weights_of
from archcalc.run.code.dropouts import role_of
from archcalc.run.code.frames import Frame
from archcalc.run.code.model_frame import ModelFrame, hold_hidden_states, model_frames
from archcalc.run.code.writing import end_of_scope


def add_scopes(root: Module, *, narrow: bool) -> None:
    """BertModel.forward: `embedding_output` is held until it returns."""
    for model in model_frames(root, narrow=narrow):
        _lower_embedding(model)
        for block in model.blocks:
            _end_block(Frame(block), narrow=narrow)
        model.until_end(model.embedded)
    hold_hidden_states(root)


def _lower_embedding(model: ModelFrame) -> None:
    """BertEmbeddings.forward: positions are those of a buffer, types are looked up in another; the rows of all tables
    are held until it returns."""
    embedding = model.embedding
    for lookup in model.lookups:
        role = role_of(lookup)
        if role is Role.POSITION_TABLE:
            _keep_places(embedding, lookup)
        if role is Role.TYPE_TABLE:
            _look_up_types(embedding, lookup)
    embedding.body.extend(end_of_scope(*(lookup.output for lookup in model.lookups)))


def _keep_places(embedding: Module, lookup: Op) -> None:
    """`position_ids` and `token_type_ids`, a number for every row of the table; nothing is made to look them up."""
    *_, table = lookup.inputs
    for name in ("position_ids", "token_type_ids"):
        embedding.buffer(name, table.dims[0], role="index")
    _put(embedding, lookup, [replace(lookup, inputs=(table,))])


def _look_up_types(embedding: Module, lookup: Op) -> None:
    """The same for each sequence, made before anything is looked up."""
    ids, table = lookup.inputs
    types = Tensor(axes(ids.dims[1]), ids.role)
    _put(embedding, lookup, [replace(lookup, inputs=(types, table))])
    embedding.body.insert(0, Op("constant", (), types))


def _put(embedding: Module, old: Op, new: list[Op]) -> None:
    for module, _ in walk(embedding):
        if old in module.body:
            place = module.body.index(old)
            module.body[place : place + 1] = new


def _end_block(frame: Frame, *, narrow: bool) -> None:
    """BertLayer.forward, BertSelfOutput.forward and BertOutput.forward: what a branch gives out, and what its last
    matrix read, are held until the norm behind it returns."""
    attention, ffn = frame.branches
    weights = weights_of(attention)
    for branch, added in zip(frame.branches, frame.sums, strict=True):
        frame.until(frame.following(added), frame.given_out(branch), frame.last_read(branch))
    _end_self_attention(attention)
    frame.until_end(frame.given, frame.taken(ffn), *weights)
    lower_attention(attention, narrow=narrow, separately=True)


def _end_self_attention(attention: Module) -> None:
    """BertSelfAttention.forward returns before the last matrix."""
    core, looked = core_of(attention), looked_at(attention)
    if core:
        place = attention.body.index(core) + 1
        attention.body[place:place] = end_of_scope(looked.query, looked.key, looked.value)
