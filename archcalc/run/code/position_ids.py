"""Places of tokens: counted in every forward pass, or read from a buffer, and the rows that they choose in tables.

Source: transformers, LlamaModel.forward and GPT2Model.forward; BertEmbeddings.forward.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.run.code.attention_parts import attentions
from archcalc.run.code.dropouts import role_of
from archcalc.run.code.habits import Habits
from archcalc.run.code.model_frame import ModelFrame
from archcalc.run.code.positions import places
from archcalc.run.code.writing import end_of_scope

BUFFERS = ("position_ids", "token_type_ids")  # a number for every row of the table of positions


def lower_positions(model: ModelFrame, habits: Habits) -> list[Tensor]:
    """The places that are held until the model returns."""
    if habits.position_ids == "buffer":
        _read_buffers(model)
    if model.has_tables:
        lines, counted = places(model.embedded.dims[1])
        model.before_dropout(lines)
        return [counted]
    return [_count(model, lookup) for lookup in _lookups(model)] if habits.position_ids == "counted" else []


def keep_masks(model: ModelFrame, habits: Habits) -> None:
    """A mask for all positions of the table, with every attention.

    Source: transformers, GPTNeoSelfAttention.__init__."""
    tables = [lookup.inputs[-1] for lookup in _lookups(model)]
    if habits.mask_buffers == "none" or not tables:
        return
    number = tables[0].dims[0].size
    rows, columns = (Dim(name, number) for name in ("mask_rows", "mask_columns"))
    for block in model.blocks:
        for attention in attentions(block):
            attention.buffer("mask", rows, columns, role="mask" if habits.mask_buffers == "bools" else "buffer")


def held_rows(model: ModelFrame, habits: Habits) -> list[Tensor]:
    """Rows of tables that the model's own function has looked up, and added."""
    is_held = habits.position_ids == "counted" and _lookups(model)
    return [lookup.output for lookup in model.lookups] if is_held else []


def _lookups(model: ModelFrame) -> list[Op]:
    """Rows of a table of positions."""
    return [lookup for lookup in model.lookups if role_of(lookup) is Role.POSITION_TABLE]


def _count(model: ModelFrame, lookup: Op) -> Tensor:
    """`torch.arange(seq) + past_seen_tokens`, in front of the rows that it chooses."""
    chosen = lookup.inputs[0]
    counted = Tensor(chosen.axes, chosen.role)
    _put(model.embedding, lookup, [Op("constant", (), counted), Op("add", (counted,), chosen), lookup])
    return chosen


def _read_buffers(model: ModelFrame) -> None:
    """Positions are those of a buffer, types are looked up in another; rows of all tables are held until the function
    of the embedding returns."""
    for lookup in model.lookups:
        role = role_of(lookup)
        if role is Role.POSITION_TABLE:
            *_, table = lookup.inputs
            for name in BUFFERS:
                model.embedding.buffer(name, table.dims[0], role="index")
            _put(model.embedding, lookup, [replace(lookup, inputs=(table,))])
        if role is Role.TYPE_TABLE:
            _look_up_types(model.embedding, lookup)
    model.embedding.body.extend(end_of_scope(*(lookup.output for lookup in model.lookups)))


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
