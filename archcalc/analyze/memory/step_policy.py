"""How a step treats parameters, depending on precision, optimizer and parallelism."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from archcalc.core.ir import Module, Param


def _none(_: Any) -> int:
    return 0


@dataclass(frozen=True)
class StepPolicy:
    """Every function gives bytes on one GPU. The defaults are those of inference: nothing is trained or sharded."""

    gradient: Callable[[Param], int] = _none  # of one copy, as the backward pass makes it
    kept_gradient: Callable[[Param], int] = _none  # of it, what stays
    summed: Callable[[Param], int] = _none  # what it is copied to, to be summed over GPUs
    rounding: int = 0  # what a flat buffer of all gradients takes beyond the sum of shares
    copy: Callable[[Param], int] = _none  # cast for a product, or dequantised
    copy_stays: Callable[[Param], bool] = lambda param: False  # until the backward pass; else made for each product
    copies_are_cached: bool = False  # by autocast, which forgets them behind the loss
    gathered: Callable[[Module | None], int] = _none  # weights of a block, or (None) of all the rest, under ZeRO-3
    accumulates: bool = False  # gradients of earlier micro-batches are there
    reduces: bool = False  # gradients are summed over GPUs and divided as soon as a block is done
    update: int = 0  # what the optimizer's step needs besides
    keys_from: int = 1  # GPUs of context parallelism: all read the keys and values of all
    loss_in_parts: bool = False  # over GPUs that divide the vocabulary: one more tensor of logits, both ways
    live: str = "temporary"  # the part of tensors that no backward pass needs
