"""A mesh of GPUs that are not there, for what PyTorch would hold on each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh


@contextmanager
def mesh_of(*sizes: int) -> Iterator[DeviceMesh]:
    """This process is the first, which holds most."""
    from torch.testing._internal.distributed.fake_pg import FakeStore

    world = 1
    for size in sizes:
        world *= size
    dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=world)
    try:
        yield init_device_mesh("cpu", sizes)
    finally:
        dist.destroy_process_group()
