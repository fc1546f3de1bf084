"""How PyTorch is measured: named parameters, forward hooks, FlopCounterMode, saved-tensor hooks, a real decode step."""

import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks

from archcalc.reference.watch import Watch

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
        with torch.no_grad(), Watch():
            call()
    finally:
        for handle in handles:
            handle.remove()
    return found


def _first_shape(out: Any) -> Shape:
    out = getattr(out, "outputs", out)
    if isinstance(out, Tensor):
        return tuple(out.shape)
    return _first_shape(out[0])


def training_step(model: nn.Module, loss: Callable[[], Tensor]) -> Step:
    """FLOPs forward and backward, and the bytes that are kept between them."""
    watch = Watch()
    value, saved = _saved_by(model, loss, watch)
    forward = watch.flops
    with watch:
        value.backward()
    model.zero_grad(set_to_none=True)
    return Step(forward, watch.flops - forward, saved)


def saved_bytes(model: nn.Module, loss: Callable[[], Tensor]) -> int:
    """The bytes kept for a backward pass, without running it."""
    return _saved_by(model, loss, Watch())[1]


def _saved_by(model: nn.Module, loss: Callable[[], Tensor], watch: Watch) -> tuple[Tensor, int]:
    """Every distinct storage that autograd keeps, or anything else that outlives the forward pass, without what a
    checkpoint of the model holds: its parameters, and the running statistics of batch norms.

    Selective checkpointing holds results that no hook of autograd's sees. What autograd kept for an output that was
    thrown away is gone with it."""
    boxes: list[weakref.ref[_Box]] = []
    own = {tensor.untyped_storage()._cdata for tensor in model.state_dict(keep_vars=True).values()}

    def keep(tensor: Tensor) -> _Box:
        box = _Box(tensor)
        boxes.append(weakref.ref(box))
        return box

    with saved_tensors_hooks(keep, lambda box: box.tensor), watch:
        value = loss()
    sizes = watch.addresses()
    sizes.pop(value.untyped_storage()._cdata, None)  # the loss is an answer, and nothing is computed from it
    kept = [box.tensor.untyped_storage() for held in boxes if (box := held()) is not None]
    sizes |= {storage._cdata: storage.nbytes() for storage in kept}
    return value, sum(size for address, size in sizes.items() if address not in own)


class _Box:
    """A tensor that autograd keeps: gone when autograd drops it."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor.detach()  # or an output would hold what made it, and that the output


def forward_flops(call: Callable[[], Any]) -> int:
    """FLOPs of a call without gradients."""
    with torch.no_grad(), Watch() as watch:
        call()
    return watch.flops


def kept_bytes(tensors: Iterable[Tensor]) -> int:
    """Bytes of distinct storages."""
    storages = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in tensors}
    return sum(storages.values())
