"""How PyTorch is measured: named parameters, forward hooks, FlopCounterMode, saved-tensor hooks, a real decode step."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
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
    """Every distinct storage that autograd keeps, or anything else that outlives the forward pass, without parameters.

    Selective checkpointing holds results that no hook of autograd's sees."""
    kept: dict[int, torch.UntypedStorage] = {}
    own = {parameter.untyped_storage()._cdata for parameter in model.parameters()}

    def keep(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in own:
            kept[storage._cdata] = storage  # held, so that no address is used twice
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor), _Made() as made:
        value = loss()
    sizes = {address: size for address, size in made.alive().items() if address not in own}
    sizes.pop(value.untyped_storage()._cdata, None)  # the loss is an answer, and nothing is computed from it
    sizes |= {address: storage.nbytes() for address, storage in kept.items()}
    return value, sum(sizes.values())


class _Made(TorchDispatchMode):
    """Remembers every storage that an op makes, without holding it."""

    def __init__(self) -> None:
        super().__init__()
        self.storages: dict[int, tuple[Any, int]] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        given = {storage._cdata for storage in _storages((args, kwargs))}  # a view of what was there is nothing new
        for storage in _storages(result):
            if storage._cdata not in given:
                self.storages.setdefault(storage._cdata, (StorageWeakRef(storage), storage.nbytes()))
        return result

    def alive(self) -> dict[int, int]:
        """Those that something still holds."""
        return {address: size for address, (weak, size) in self.storages.items() if not weak.expired()}


def _storages(values: Any) -> list[torch.UntypedStorage]:
    return [tensor.untyped_storage() for tensor in tree_leaves(values) if isinstance(tensor, Tensor)]


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
