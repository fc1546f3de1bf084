"""Both ends of a model with an encoder and a decoder: ids that are made of labels, and a scaled tied head.

Source: transformers, T5ForConditionalGeneration.forward and T5PreTrainedModel._shift_right.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.run.code.dropouts import role_of
from archcalc.run.code.relative_bias import BOOLS, NUMBERS
from archcalc.run.code.writing import Lines, end_of_scope

BY_TOKEN = 2  # axes of ids: batch and positions


def shift_right(embedding: Module) -> list[Tensor]:
    """The decoder's ids, which are made of the labels; nothing of a decoder that reads no ids."""
    ids = next((op for op in embedding.ops if op.traits.enters and len(op.output.dims) == BY_TOKEN), None)
    if ids is None:
        return []
    batch, seq = ids.output.dims
    lines = Lines(narrow=False)
    lines.do("constant", into=ids.output)
    lines.do("constant", to=axes(batch, Dim.of("shifted", int(seq.size) - 1)), role=NUMBERS)
    lines.do("constant", to=axes(), role=NUMBERS)
    lines.do("constant", to=axes(batch, seq), role=BOOLS)
    place = embedding.body.index(ids)
    embedding.body[place : place + 1] = lines.ops
    return [ids.output]


def scale_for_tied_head(root: Module) -> None:
    """Where the head is the table of tokens; what is scaled, and what of, are held until the loss is there."""
    held: list[Tensor] = []
    for module, _ in walk(root):
        for op in [op for op in module.ops if op.traits.contraction and role_of(op) is Role.TOKEN_TABLE]:
            x, *weights = op.inputs
            scaled = Tensor(x.axes, x.role)
            held += [x, scaled]
            place = module.body.index(op)
            module.body[place : place + 1] = [Op("scale", (x,), scaled), replace(op, inputs=(scaled, *weights))]
    root.body.extend(end_of_scope(*held))
