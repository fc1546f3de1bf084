"""The function that runs a block: what its variables hold until another takes the name, or until it returns.

    residual = hidden_states                    what the block is given, which its caller holds too
    hidden_states = self.norm(hidden_states)    what a branch is given
    hidden_states, weights = self.attention(hidden_states)
    hidden_states = residual + hidden_states

A module's `forward` is given tensors that its caller holds meanwhile. Where a backward pass saves those anyway this
changes nothing; under checkpointing, or beside frozen weights, it does. Classes differ in which names they use again.
Source: transformers, LlamaDecoderLayer.forward, as most are written; GPT2Block, BertLayer, GPTNeoXLayer, T5Block.
"""

from __future__ import annotations

from archcalc.core.ir import Module, Tensor
from archcalc.run.code.attention_functions import lower_attention
from archcalc.run.code.attention_parts import attentions, looked_at, weights_of
from archcalc.run.code.frames import Frame
from archcalc.run.code.habits import Habits
from archcalc.run.code.writing import end_of_scope


def end_block(block: Module, habits: Habits, places: list[Tensor], *, narrow: bool) -> None:
    """`places` are given to the block, whether it reads them or not."""
    frame = Frame(block)
    weights = [tensor for branch in frame.branches for tensor in weights_of(branch)]
    outputs = [tensor for branch in frame.branches for tensor in _output(frame, branch, habits)]
    inputs = [tensor for branch in frame.branches for tensor in _input(frame, branch, habits)]
    if habits.heads_held == "dropout":
        _hold_until_dropout(frame)
    for attention in attentions(block):
        lower_attention(attention, habits, narrow=narrow)
    if habits.gates == "held":
        _hold_gates(frame)
    frame.add_in_steps()
    frame.until_end(frame.given, *places, *inputs, *outputs, *weights)


def _input(frame: Frame, branch: Module, habits: Habits) -> list[Tensor]:
    """What a branch is given is held until it returns, until what it gives is added, or until the block returns."""
    if habits.branch_inputs == "block":
        return [frame.taken(branch)]
    until = frame.sum_behind(branch) if habits.branch_inputs == "added" else branch
    frame.until(until, frame.taken(branch))
    return []


def _output(frame: Frame, branch: Module, habits: Habits) -> list[Tensor]:
    """What it gives out is another's name once it is added, or held longer: by the function that normalises the sum,
    which is given what the branch's last matrix read too, or until the block returns."""
    if habits.branch_outputs == "block":
        return [frame.given_out(branch)]
    if habits.branch_outputs == "added":
        frame.until(frame.sum_behind(branch), frame.made(branch))
    if habits.branch_outputs == "norm":
        norm = frame.following(frame.sum_behind(branch))
        frame.until(norm, frame.given_out(branch), frame.last_read(branch))
    return []


def _hold_until_dropout(frame: Frame) -> None:
    """Queries, keys and values, where dropout is a part of attention's function."""
    for branch in frame.branches:
        for attention in attentions(branch):
            looked = looked_at(attention)
            frame.until(frame.behind(branch), looked.query, looked.key, looked.value)


def _hold_gates(frame: Frame) -> None:
    """Both factors of a gated layer. Source: T5DenseGatedActDense.forward."""
    for branch in frame.branches:
        factors = [tensor for op in branch.ops if op.traits.multiplies for tensor in op.inputs]
        branch.body.extend(end_of_scope(*factors))
