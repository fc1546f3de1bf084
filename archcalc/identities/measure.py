"""What the identities share: repeatable random numbers, distances, and counts of work and of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode

Normal = Callable[..., Tensor]
Layer = TypeVar("Layer", bound=nn.Module)


@contextmanager
def one_thread() -> Iterator[None]:
    """With one thread of PyTorch's: on tensors as small as these, several wait for each other most of the time."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def gaussian(seed: int) -> Normal:
    """A source of standard normal float64 tensors, `normal(3, 4)`, apart from torch's own generator."""
    generator = torch.Generator().manual_seed(seed)
    return lambda *shape: torch.randn(shape, generator=generator, dtype=torch.float64)


def gap(left: Tensor, right: Tensor) -> float:
    """max |left − right|, entry by entry. Shapes must agree: broadcasting would hide a mistake."""
    if left.shape != right.shape:
        raise ValueError(f"cannot compare {tuple(left.shape)} with {tuple(right.shape)}")
    return float((left - right).abs().max())


def weights(*modules: nn.Module) -> int:
    """The number of parameters, read off the tensors."""
    return sum(p.numel() for module in modules for p in module.parameters())


def unfilled(*shape: int) -> Tensor:
    """A tensor with a shape and no memory: enough to count the work done on it."""
    return torch.empty(shape, dtype=torch.float64, device="meta")


def filled(build: Callable[[], Layer], normal: Normal) -> Layer:
    """A layer with weights drawn from `normal`: made without memory first, so PyTorch draws none itself."""
    with torch.device("meta"):
        layer = build()
    layer.to_empty(device="cpu").requires_grad_(False)
    for p in layer.parameters():
        p.copy_(normal(*p.shape))
    return layer


def flops(call: Callable[..., object], *inputs: Tensor) -> int:
    """FLOPs of the matrix products PyTorch carries out; a multiplication and an addition are two."""
    with FlopCounterMode(display=False) as counter:
        call(*inputs)
    return int(counter.get_total_flops())


class _Outputs(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Keeps the output of every operation, so that no memory is handed out twice while it is watched."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.tensors: list[Tensor] = []

    def __torch_dispatch__(
        self,
        func: Callable[..., Tensor],
        types: object,
        args: tuple[object, ...] = (),
        kwargs: dict[str, object] | None = None,
    ) -> Tensor:
        output = func(*args, **(kwargs or {}))
        self.tensors.append(output)
        return output


def elements(call: Callable[..., object], *inputs: Tensor) -> int:
    """The numbers that stand in memory for `call`: its inputs, and whatever its operations wrote."""
    with _Outputs() as seen:
        call(*inputs)
    storages = [t.untyped_storage() for t in (*inputs, *seen.tensors)]
    distinct = {storage.data_ptr(): storage.nbytes() for storage in storages}  # a view adds no storage
    return int(sum(distinct.values())) // 8  # bytes a float64
