"""Python's functions around the layers of a library's model: what their variables hold until they return.

The model's own function makes places of tokens, masks and tables of positions in front of the first block, and holds
them, with the embedding, until it returns; the function with the head holds what that reads until the loss is there.
Source: transformers, LlamaModel.forward and LlamaForCausalLM.forward, as its other classes are written too.
"""

from __future__ import annotations

from archcalc.core.ir import Module
from archcalc.core.tree import given_out
from archcalc.run.code import position_bias, position_ids, seq2seq
from archcalc.run.code.block_functions import end_block
from archcalc.run.code.habits import Habits
from archcalc.run.code.model_frame import ModelFrame, hold_hidden_states, model_frames
from archcalc.run.code.writing import end_of_scope


def add_functions(root: Module, habits: Habits, *, narrow: bool) -> None:
    """Around every stack of blocks, and around the whole."""
    models = model_frames(root, narrow=narrow)
    encoded = [tensor for model in models[:-1] if (tensor := given_out(model.stack))]
    for model in models:
        _lower_model(model, habits)
    ids = seq2seq.shift_right(models[-1].embedding) if encoded else []
    root.body.extend(end_of_scope(*encoded, *ids))
    if habits.tied_head == "scaled":
        seq2seq.scale_for_tied_head(root)
    hold_hidden_states(root)


def _lower_model(model: ModelFrame, habits: Habits) -> None:
    biases = position_bias.lower_biases(model, habits)
    places = position_ids.lower_positions(model, habits)
    position_ids.keep_masks(model, habits)
    made = model.make_masks(every=habits.masks == "every")
    in_fp32 = habits.rotary == "fp32_tables"
    tables = model.make_tables(places[0], in_fp32=in_fp32) if model.has_tables else []
    for block in model.blocks:
        end_block(block, habits, places[:1], narrow=model.narrow)
    model.until_end(model.embedded, *position_ids.held_rows(model, habits), *places, *made, *tables, *biases)
