"""Blocks that are recomputed op by op: PyTorch's selective checkpointing with torchtitan's policy.

The results of products and of attention are kept, of products with a matrix alone every second one. A kernel is one op,
which is on no list, whatever is computed inside: where one is written out here, `as_one_op` hides its inside.
Source: pytorch/torchtitan, torchtitan/distributed/activation_checkpoint.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def as_one_op() -> Iterator[None]:
    """What runs meanwhile is the inside of a kernel."""
    token = _inside.set(True)
    try:
        yield
    finally:
        _inside.reset(token)


def contexts() -> Any:
    """One for the forward pass, one for computing again; a new pair for every block."""
    return create_selective_checkpoint_contexts(_Policy())


class _Policy:
    """Asked about every op as it runs; counts the products going forward, and again going back."""

    def __init__(self) -> None:
        from torch._functorch.partitioners import get_default_op_list  # slow to load, and rarely needed

        chosen: list[Any] = list(get_default_op_list().compute_intensive_ops)
        intensive = {op.default for op in chosen}
        over_gpus = torch.ops._c10d_functional.reduce_scatter_tensor.default
        self.kept = intensive | {torch.ops.aten.topk.default, over_gpus}
        self.products = {False: 0, True: 0}

    def __call__(self, context: Any, op: Any, *given: Any, **options: Any) -> CheckpointPolicy:
        if _inside.get():
            return CheckpointPolicy.PREFER_RECOMPUTE
        if op is torch.ops.aten.mm.default:
            self.products[context.is_recompute] += 1
            if self.products[context.is_recompute] % 2 == 0:
                return CheckpointPolicy.PREFER_RECOMPUTE
        if op in self.kept:
            return CheckpointPolicy.MUST_SAVE
        return CheckpointPolicy.PREFER_RECOMPUTE
