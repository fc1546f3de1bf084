"""Ops of a forward pass on fake CUDA tensors, in a PyTorch that has no CUDA: which kernels a GPU would be asked for.

Tensors are indexed, made contiguous and moved by ops, since PyTorch's bindings for that ask for a driver.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

aten = torch.ops.aten


def ops(call: Callable[[], Any]) -> list[str]:
    """Each op with shapes, strides and types of what it gives."""
    with ExitStack() as stack:
        stack.enter_context(patch.object(torch.cuda, "get_device_capability", lambda *_: (9, 0)))
        stack.enter_context(torch.no_grad())
        seen = stack.enter_context(Seen())
        stack.enter_context(ByOps())
        call()
    return list(seen.ops)


class Seen(TorchDispatchMode):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.ops: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if func.namespace != "prim":  # which ask for a device
            made = [one for one in tree_leaves(out) if isinstance(one, Tensor)]
            self.ops.append(f"{func} {[(tuple(one.shape), one.stride(), one.dtype) for one in made]}")
        return out


class ByOps(TorchFunctionMode):
    """Without the bindings that ask for a driver."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if function is Tensor.__getitem__:
            return indexed(*args)
        if function is Tensor.contiguous:
            whole = args[0].is_contiguous()
            return args[0] if whole else aten.clone(args[0], memory_format=torch.contiguous_format)
        if function is Tensor.float:
            return aten.to.dtype(args[0], torch.float32)
        if function is Tensor.__setitem__ or (function is Tensor.to and isinstance(args[-1], torch.device)):
            return args[0]
        return function(*args, **(kwargs or {}))


def indexed(tensor: Tensor, places: Any) -> Any:
    """By one op for each place."""
    places = places if isinstance(places, tuple) else (places,)
    if any(isinstance(place, Tensor) for place in places):
        return aten.index.Tensor(tensor, [place if isinstance(place, Tensor) else None for place in places])
    axis = 0
    for number, place in enumerate(places):
        if place is Ellipsis:
            axis = tensor.dim() - sum(later is not None for later in places[number + 1 :])
        else:
            tensor = _taken(tensor, axis, place)
            axis += not isinstance(place, int)
    return tensor


def _taken(tensor: Tensor, axis: int, place: Any) -> Any:
    if place is None:
        return aten.unsqueeze(tensor, axis)
    if isinstance(place, int):
        return aten.select.int(tensor, axis, place)
    return tensor if place == slice(None) else aten.slice.Tensor(tensor, axis, place.start, place.stop, place.step or 1)
