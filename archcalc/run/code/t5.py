"""What the variables of T5's functions hold. Source: transformers, models/t5/modeling_t5.py."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Dim, Module, Op, Tensor, axes, walk
from archcalc.core.roles import Role
from archcalc.core.tree import given_out
from archcalc.layers.attention_core import EAGER
from archcalc.run.code.attention_parts import attentions, core_of, looked_at, lower_attention, stores_scores, weights_of
from archcalc.run.code.dropouts import role_of
from archcalc.run.code.efficient import lower_biased
from archcalc.run.code.frames import Frame
from archcalc.run.code.model_frame import ModelFrame, model_frames
from archcalc.run.code.relative_bias import BOOLS, NUMBERS, distances, in_first_block, zeros_in_first_block
from archcalc.run.code.writing import Lines, end_of_scope


def add_scopes(root: Module, *, narrow: bool) -> None:
    """T5ForConditionalGeneration.forward: what encoder and decoder give out, and the decoder's ids, are held until the
    loss is there."""
    models = model_frames(root, narrow=narrow)
    encoded = [tensor for model in models[:-1] if (tensor := given_out(model.stack))]
    for model in models:
        _lower_stack(model)
    ids = [_shift_right(models[-1].embedding)] if encoded else []
    held = _scale_for_tied_head(root)
    root.body.extend(end_of_scope(*encoded, *ids, *held))


def _lower_stack(model: ModelFrame) -> None:
    """T5Stack.forward: embeddings, the mask and both biases are held until it returns."""
    biases = [*_move_bias(model), *_add_zeros(model)]
    made = model.make_masks()
    for block in model.blocks:
        _end_block(Frame(block), narrow=model.narrow)
    model.until_end(model.lookups[0].output, *made, *biases)


def _move_bias(model: ModelFrame) -> list[Tensor]:
    """The bias is computed in the first block, behind its projections."""
    attention, *_ = attentions(model.blocks[0])
    found: list[Tensor] = []
    for module in [child for child in model.stack.children if _looks_up_places(child)]:
        found.append(module.ops[0].output)
        _compute_in(attention, module.ops)
        model.stack.body.remove(module)
        module.body.clear()
    return found


def _looks_up_places(module: Module) -> bool:
    return any(role_of(op) is Role.POSITION_TABLE for op in module.ops)


def _compute_in(attention: Module, ops: tuple[Op, ...]) -> None:
    core = core_of(attention)
    assert core
    bias, causal = ops[-1].output, any(op.traits.hides for op in core.ops)
    lines, held = distances(ops[0].inputs[0], causal=causal)
    in_first_block(attention, core, [*lines, *ops, *end_of_scope(*held)])
    if EAGER in core.work_notes:  # a kernel was asked for, and there is one
        lower_biased(core, bias, causal=causal, lies_by_head=False)


def _add_zeros(model: ModelFrame) -> list[Tensor]:
    """Cross-attention adds a bias too, of zeros; the first block makes it."""
    _, *others = attentions(model.blocks[0])
    return [_add_zeros_to(attention) for attention in others]


def _add_zeros_to(attention: Module) -> Tensor:
    core, looked = core_of(attention), looked_at(attention)
    assert core
    _, head, seq, _ = looked.query.dims
    zeros = Tensor(axes(head, seq, looked.key.dims[2]), looked.query.role)
    if stores_scores(attention):
        _add_to_scores(core, zeros)
    else:
        lower_biased(core, zeros, causal=False, lies_by_head=True)
    zeros_in_first_block(attention, core, zeros)
    return zeros


def _add_to_scores(core: Module, zeros: Tensor) -> None:
    scaled = core.ops[1]
    scores = Tensor(scaled.output.axes, scaled.output.role)
    place = core.body.index(scaled)
    core.body[place : place + 1] = [replace(scaled, output=scores), Op("add", (scores, zeros), scaled.output)]


def _end_block(frame: Frame, *, narrow: bool) -> None:
    """T5Block.forward and its layers: what a branch is given, and what it gives out in front of its dropout, are held
    until that is added; the sum, until the next one is there."""
    *with_heads, ffn = frame.branches
    weights = [weight for attention in with_heads for weight in weights_of(attention)]
    for branch, added in zip(frame.branches, frame.sums, strict=True):
        frame.until(added, frame.taken(branch), frame.made(branch))
    for before, added in zip(frame.sums, frame.sums[1:], strict=False):
        frame.until(added, before.output)
    for attention in with_heads:
        _end_attention(attention, narrow=narrow)
    ffn.body.extend(end_of_scope(*_factors(ffn)))
    frame.until_end(frame.given, *weights[-1:])
    if len(with_heads) > 1:
        frame.until(frame.sums[1], *weights[:1])


def _end_attention(attention: Module, *, narrow: bool) -> None:
    """T5Attention.forward."""
    looked = looked_at(attention)
    lower_attention(attention, narrow=narrow, separately=True)
    attention.body.extend(end_of_scope(looked.query, looked.key, looked.value))


def _factors(ffn: Module) -> list[Tensor]:
    """`hidden_gelu` and `hidden_linear` of a gated layer."""
    return [tensor for op in ffn.ops if len(op.inputs) > 1 for tensor in op.inputs]


def _shift_right(embedding: Module) -> Tensor:
    """The decoder's ids, which are made of the labels. Source: T5PreTrainedModel._shift_right."""
    ids = next(op for op in embedding.ops if op.traits.enters)
    batch, seq = ids.output.dims
    lines = Lines(narrow=False)
    lines.do("constant", into=ids.output)
    lines.do("constant", to=axes(batch, Dim.of("shifted", int(seq.size) - 1)), role=NUMBERS)
    lines.do("constant", to=axes(), role=NUMBERS)
    lines.do("constant", to=axes(batch, seq), role=BOOLS)
    place = embedding.body.index(ids)
    embedding.body[place : place + 1] = lines.ops
    return ids.output


def _scale_for_tied_head(root: Module) -> list[Tensor]:
    """`scale_decoder_outputs` where the head is the table of tokens. Gives what is held of the decoder."""
    held: list[Tensor] = []
    for module, _ in walk(root):
        for op in [op for op in module.ops if op.traits.contraction and role_of(op) in (Role.TOKEN_TABLE, Role.HEAD)]:
            x, *weights = op.inputs
            held.append(x)
            if role_of(op) is Role.TOKEN_TABLE:
                scaled = Tensor(x.axes, x.role)
                held.append(scaled)
                place = module.body.index(op)
                module.body[place : place + 1] = [Op("scale", (x,), scaled), replace(op, inputs=(scaled, *weights))]
    return held
