"""How PyTorch is measured: named parameters, forward hooks, FlopCounterMode, saved-tensor hooks, a real decode step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Step:
    """What one training step did."""

    forward: int
    backward: int
    saved: int


def parameters(model: nn.Module) -> dict[str, Shape]:
    """Every parameter's shape by name, tied ones once."""
    return {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}


def shapes(model: nn.Module, call: Callable[[], Any]) -> dict[str, Shape]:
    """The shape that every module gave out when it was last called; of several tensors, the first."""
    found: dict[str, Shape] = {}
    handles = [
        module.register_forward_hook(lambda _, __, out, name=name: found.update({name: _first_shape(out)}))
        for name, module in model.named_modules()
    ]
    try:
        with torch.no_grad():
            call()
    finally:
        for handle in handles:
            handle.remove()
    return found


def _first_shape(out: Any) -> Shape:
    out = getattr(out, "outputs", out)
    return tuple(out.shape) if isinstance(out, Tensor) else _first_shape(out[0])


def training_step(model: nn.Module, loss: Callable[[], Tensor]) -> Step:
    """FLOPs forward and backward, and the bytes that are kept between them."""
    counter = FlopCounterMode(display=False)
    with counter:
        value, saved = _saved_by(model, loss)
        forward = counter.get_total_flops()
        value.backward()
    model.zero_grad(set_to_none=True)
    return Step(forward, counter.get_total_flops() - forward, saved)


def saved_bytes(model: nn.Module, loss: Callable[[], Tensor]) -> int:
    """The bytes kept for a backward pass, without running it."""
    return _saved_by(model, loss)[1]


def _saved_by(model: nn.Module, loss: Callable[[], Tensor]) -> tuple[Tensor, int]:
    """Every distinct storage that autograd keeps, parameters left out."""
    kept: dict[int, torch.UntypedStorage] = {}
    own = {parameter.untyped_storage()._cdata for parameter in model.parameters()}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            kept[storage._cdata] = storage  # held, so that no address is used twice
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        value = loss()
    return value, sum(storage.nbytes() for storage in kept.values())


def forward_flops(call: Callable[[], Any]) -> int:
    """FLOPs of a call without gradients."""
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), counter:
        call()
    return int(counter.get_total_flops())


def kept_bytes(tensors: Iterable[Tensor]) -> int:
    """Bytes of distinct storages."""
    storages = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(storages.values())
