"""Why what enters a block of frozen weights stays: PyTorch's own checkpoint with the hook that FSDP registers there."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from torch.autograd.graph import register_multi_grad_hook
from torch.utils.checkpoint import checkpoint

BLOCKS = 4


@pytest.mark.parametrize(
    ("hooked", "reentrant", "held"), [(True, True, BLOCKS), (True, False, 0), (False, True, 0), (False, False, 0)]
)
def test_a_hook_holds_the_leaf_of_a_reentrant_checkpoint(hooked: bool, reentrant: bool, held: int) -> None:
    """The leaves that outlive a backward pass, each with its gradient, while the hooks are there."""
    hooks, leaves = list[Any](), list[weakref.ref[torch.Tensor]]()
    weight = torch.ones(8, 8)

    def block(x: torch.Tensor) -> torch.Tensor:
        if hooked and x.requires_grad and torch.is_grad_enabled():
            hooks.append(register_multi_grad_hook((x,), lambda gradients: None))
        if x.is_leaf and x.requires_grad:
            leaves.append(weakref.ref(x))
        return torch.relu(x @ weight)

    x = torch.ones(2, 8, requires_grad=True) * 1
    for _ in range(BLOCKS):
        x = checkpoint(block, x, use_reentrant=reentrant)
    torch.autograd.backward(x.sum())
    del x
    gc.collect()
    alive = [leaf for each in leaves if (leaf := each()) is not None]
    assert len(alive) == sum(leaf.grad is not None for leaf in alive) == held
