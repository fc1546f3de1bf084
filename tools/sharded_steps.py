"""Lifetimes of storages on one of several GPUs: FSDP2 and DTensor in one process, the other GPUs faked.

It runs on fake CPU tensors, since FSDP2 takes none on meta. Streams of a CPU do nothing, but can be told apart.
`trace_sharded` is two training steps of a transformers class there, with weights, gradients and states divided.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import torch
import torch.distributed as dist
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor._sharding_prop import ShardingPropagator

from archcalc.reference.lifetimes import Lifetimes, Storage
from archcalc.verify.hf.rows import block_names
from archcalc.verify.hf.traced import Recorder, Trace, recorded
from archcalc.verify.hf.training import Setting, Training


@contextmanager
def faked(gpus: int) -> Iterator[DeviceMesh]:
    """GPUs that are not there, on tensors without memory."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=gpus)
    try:
        mesh = init_device_mesh("cpu", (gpus,))
        with FakeTensorMode(allow_non_fake_inputs=True):
            yield mesh
    finally:
        dist.destroy_process_group()


class ShardedLifetimes(Lifetimes):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """What is made of each shard, and not the whole that it stands for. Streams are numbered as they come."""

    def __init__(self, device: str = "cpu", *, in_place: bool = True) -> None:
        super().__init__(device, in_place=in_place)
        self._streams: list[Any] = [torch.cpu.current_stream()]
        self._asks_for_shapes = False
        self._emptied: dict[int, tuple[Storage, Any]] = {}  # by address, what stood in a storage of no size now
        self._open = ExitStack()

    def add(self, tensor: Tensor, op: str) -> None:
        super().add(_shard(tensor), op)

    def key(self, tensor: Tensor) -> int | None:
        return super().key(_shard(tensor))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(kind, DTensor) for kind in types):
            return NotImplemented
        if self._asks_for_shapes:
            return func(*args, **(kwargs or {}))
        return super().__torch_dispatch__(func, types, args, kwargs)

    def stream(self) -> int:
        current = torch.cpu.current_stream()
        if current not in self._streams:
            self._streams.append(current)
        return self._streams.index(current)

    def __enter__(self) -> Any:
        self._open.enter_context(self._unseen_shapes())
        self._open.enter_context(self._seen_resizes())
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *failure: Any) -> None:
        super().__exit__(*failure)  # type: ignore[no-untyped-call]
        self._open.close()

    def _unseen_shapes(self) -> Any:
        """DTensor works out shapes of results on fake tensors of the whole, which are no memory."""
        asked: Any = ShardingPropagator._propagate_tensor_meta_non_cached

        def unseen(*args: Any, **kwargs: Any) -> Any:
            self._asks_for_shapes = True
            try:
                return asked(*args, **kwargs)
            finally:
                self._asks_for_shapes = False

        return patch.object(ShardingPropagator, "_propagate_tensor_meta_non_cached", unseen)

    def _seen_resizes(self) -> Any:
        """FSDP2 frees gathered weights by making their storage empty, and fills it again; no op does that."""
        resize: Any = torch.UntypedStorage.resize_

        def seen(storage: Any, size: int) -> Any:
            before = storage.nbytes()
            done = resize(storage, size)
            if before != size:
                self._resized(storage)
            return done

        return patch.object(torch.UntypedStorage, "resize_", seen)

    def _resized(self, storage: Any) -> None:
        """A storage of another size takes other memory; one of no size takes none until it is filled again."""
        address = storage._cdata
        key = self._numbers.get(address)
        if key is not None:
            before, _ = self._alive[key]
            self._emptied[address] = before, weakref.ref(storage, lambda _: self._emptied.pop(address))
            self._gone(key, address)
        if address in self._emptied:
            before, _ = self._emptied[address]
            self._add(storage, before.op, before.shape, before.dtype)


def _shard(tensor: Tensor) -> Tensor:
    if isinstance(tensor, DTensor):
        return tensor._local_tensor
    return tensor


class ShardedRecorder(Recorder, ShardedLifetimes):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """Of both."""


def trace_sharded(config: dict[str, Any], setting: Setting, gpus: int, *, in_place: bool = True) -> Trace:
    """On fake CPU tensors, whose layer norms keep statistics in bf16 where a GPU's keep them in fp32."""
    with faked(gpus) as mesh:
        training = sharded(Training(config, setting, device="cpu"), mesh)
        return recorded(training, ShardedRecorder(training, in_place=in_place))


def sharded(training: Training, mesh: DeviceMesh) -> Training:
    """Each block gathered on its own, then the rest: fp32 shards, bf16 when gathered, gradients summed in fp32."""
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for name in (*block_names(training.model), ""):
        fully_shard(training.model.get_submodule(name), mesh=mesh, mp_policy=policy)
    return training
