"""Bytes of all storages that are alive while PyTorch runs, op by op: the truth for a timeline."""

from __future__ import annotations

from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Alive(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """`peak` is the most that was alive behind any op; what exists before is added by hand."""

    def __init__(self, *there: torch.Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.storages: dict[Any, int] = {}
        self.peak = 0
        for tensor in there:
            self._add(tensor)

    def _add(self, tensor: Any) -> None:
        if isinstance(tensor, torch.Tensor):
            storage = tensor.untyped_storage()
            weak: Any = StorageWeakRef
            self.storages.setdefault(weak(storage), storage.nbytes())

    @property
    def now(self) -> int:
        self.storages = {storage: size for storage, size in self.storages.items() if not storage.expired()}
        return sum(self.storages.values())

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            self._add(tensor)
        self.peak = max(self.peak, self.now)
        return result
