"""Tables of cosines and sines that every layer makes for itself, of those that the model has made.

Source: transformers, apply_rotary_pos_emb of GLM: `cos[..., : cos.shape[-1] // 2].repeat_interleave(2, dim=-1)`.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor


def repeat_tables(attention: Module) -> None:
    """In front of the first rotation; the tables live as long as it is rotated by them, going back too."""
    rotations = [op for op in attention.ops if op.traits.position_tables]
    tables = dict.fromkeys(table for op in rotations for table in op.inputs[1:])
    own = {table: Tensor(table.axes, table.role) for table in tables}
    place = attention.body.index(rotations[0]) if rotations else 0
    for op in rotations:
        read = replace(op, inputs=(op.inputs[0], *(own[table] for table in op.inputs[1:])))
        attention.body[attention.body.index(op)] = read
    attention.body[place:place] = [Op("constant", (table,), made) for table, made in own.items()]
