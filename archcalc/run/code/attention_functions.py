"""The function that runs attention: what its variables hold, and how queries, keys and values lie for its kernel.

Source: transformers, LlamaAttention.forward and others like it; GPT2Attention, BertSelfAttention and PhiAttention hold
some tensors for another while.
"""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor
from archcalc.core.roles import Role
from archcalc.core.tree import read_from_outside
from archcalc.layers.attention_core import EAGER
from archcalc.run.code import eager
from archcalc.run.code.attention_parts import attentions, core_of, looked_at, made_by, see_by_head, stores_scores
from archcalc.run.code.efficient import add_in_kernel
from archcalc.run.code.habits import Habits
from archcalc.run.code.kernels import lower_kernel
from archcalc.run.code.layer_tables import repeat_tables
from archcalc.run.code.partial_rotary import is_partial, rotate_parts
from archcalc.run.code.rotary import TURNS
from archcalc.run.code.sinks import scale_by_sinks
from archcalc.run.code.wide_scores import widen_scores
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


def lower_attention(attention: Module, habits: Habits, *, narrow: bool) -> None:
    """Queries, keys and values are held until attention returns, or until its output projection; the function that
    rotates them holds what it was given."""
    core, looked = core_of(attention), looked_at(attention)
    _see_values(attention, looked.value)
    held = [looked.query, looked.key, looked.value]
    rotations = [op for op in attention.ops if op.traits.position_tables]
    given = [op.inputs[0] for op in rotations]
    for tensor in _seen_by_head(attention, habits):
        see_by_head(attention, _projected(attention, tensor))
    if habits.layer_tables == "repeated":
        repeat_tables(attention)
        rotations = [op for op in attention.ops if op.traits.position_tables]
    if rotations:
        behind = attention.body.index(rotations[-1]) + 1
        attention.body[behind:behind] = end_of_scope(*given)
    parts = _rotate_parts(attention, habits, narrow=narrow) if rotations else []
    if habits.rotated_parts == "attention":
        held += [*given, *parts]
    lower_kernel(attention, in_fp32=habits.fp32_kernel == "efficient" and not narrow)
    if core:
        _lower_scores(core, habits, narrow=narrow)
        eager.lower_core(core, narrow=narrow)
        place = attention.body.index(core) + 1 if habits.heads_held == "core" else len(attention.body)
        attention.body[place:place] = end_of_scope(*held) if habits.heads_held != "dropout" else []


def _lower_scores(core: Module, habits: Habits, *, narrow: bool) -> None:
    """Of eager attention, before its products are; a bias on them is one that a kernel takes."""
    if EAGER in core.work_notes and habits.attention == "fused":
        add_in_kernel(core)
    if habits.sinks == "scaled":
        scale_by_sinks(core, narrow=narrow)
    if habits.scores == "fp32" and narrow:
        widen_scores(core)


def _see_values(attention: Module, value: Tensor) -> None:
    """Values that one matrix has made beside keys are seen where they are. Source: DeepseekV3Attention.forward."""
    for place, item in enumerate(attention.body):
        if isinstance(item, Op) and item.kind == "copy" and item.output is value.storage:
            attention.body[place] = replace(item, kind="slice")


def _rotate_parts(attention: Module, habits: Habits, *, narrow: bool) -> list[Tensor]:
    rotations = [op for op in attention.ops if op.traits.position_tables]
    every = habits.rotary_parts == "always"
    if habits.rotary not in TURNS or not (every or any(map(is_partial, rotations))):
        return []
    return rotate_parts(attention, TURNS[habits.rotary], narrow=narrow, every=every)


def _seen_by_head(attention: Module, habits: Habits) -> list[Tensor]:
    """What comes back by head, and is copied to the order of positions: gradients of what is rotated, of products of
    stored scores, and of keys and values that were repeated. A kernel's own lie as what it was given."""
    if habits.qkv == "split_heads":
        return []
    rotations = [op for op in attention.ops if op.traits.position_tables]
    rotated = {op.output for op in rotations}
    others = [tensor for tensor in _copied_back(attention, habits) if tensor.storage not in rotated]
    return list(dict.fromkeys([*(op.inputs[0] for op in rotations), *others]))


def _copied_back(attention: Module, habits: Habits) -> list[Tensor]:
    """Gradients of keys come along the positions of queries: where keys are a part of what one matrix made they can be
    seen as that without a copy, and so can those of one sequence."""
    looked, core = looked_at(attention), core_of(attention)
    if stores_scores(attention):
        is_part = habits.qkv == "split" or int(looked.key.dims[0].size) == 1
        return [looked.value, *([] if is_part else [looked.key]), looked.query]
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
