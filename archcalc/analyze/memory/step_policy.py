"""How a step treats parameters, depending on precision, optimizer and parallelism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from archcalc.core.ir import Module, Op, Param


@dataclass(frozen=True)
class ShardedGroups:
    """The parameters that FSDP gathers together, as the bytes of each of them."""

    block: Callable[[Module], Sequence[int]]
    first: Sequence[int] = ()  # in front of the blocks, if these are a group of their own
    last: Sequence[int] = ()  # behind the blocks, likewise
    root: Sequence[int] = ()  # all that is in no other group: gathered from the first op to the last


UNSHARDED = ShardedGroups(lambda block: ())


def _none(_: Any) -> int:
    return 0


@dataclass(frozen=True)
class StepPolicy:
    """Every function gives bytes on one GPU. The defaults are those of inference: nothing is trained or sharded."""

    gradient: Callable[[Param], int] = _none  # of one copy, as the backward pass makes it
    is_fused: Callable[[Op, Param], bool] = lambda op, param: False  # the op adds it to what is there, without a copy
    cast_gradient: Callable[[Param], int] = _none  # as a product makes it of a cast copy, before it is cast back
    kept_gradient: Callable[[Param], int] = _none  # of it, what stays
    summed: Callable[[Param], int] = _none  # what it is copied to, to be summed over GPUs
    reduce_bucket: int = 0  # a buffer that gradients are summed over GPUs in, while the backward pass runs
    rounding: int = 0  # what a flat buffer of all gradients takes beyond the sum of shares
    copy: Callable[[Param], int] = _none  # cast for a product, or dequantised
    copy_stays: Callable[[Param], bool] = lambda param: False  # until the backward pass; else made for each product
    copies_are_cached: bool = False  # by autocast, which forgets them behind the loss
    copy_is_cached: Callable[[Param], bool] = lambda param: True  # of what is trained; others live as long as saved
    groups: ShardedGroups = UNSHARDED  # weights that are gathered together by ZeRO-3
    reshard: str = "always"  # which blocks free their gathered weights after the forward pass
    gpus: int = 1  # over which weights are sharded
    accumulates: bool = False  # gradients of earlier micro-batches are there
    offloads: bool = False  # gradients and shards of weights are in host RAM
    reduces: bool = False  # gradients are summed over GPUs and divided as soon as a block is done
    updates: Sequence[
        Sequence[int]
    ] = ()  # what the optimizer's step needs besides: blocks that exist at once, in turns
    keys_from: int = 1  # GPUs of context parallelism: all read the keys and values of all
    loss_in_parts: bool = False  # over GPUs that divide the vocabulary: one more tensor of logits, both ways
    has_last_step: bool = True  # another one, as long as this, came before
    logits_held: str = "no"  # how long the training loop holds the model's output
    holds_batch: bool = False  # the training loop holds ids, labels and the loss until the step is done
    workspace: Callable[[Op], Sequence[int]] = lambda op: ()  # of an op's gradients, unseen by PyTorch
    product_workspace: int = 0  # of all matrix products, from the first one on
    live: str = "temporary"  # the part of tensors that no backward pass needs
