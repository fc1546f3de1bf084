"""The same two steps on one of several GPUs, with weights, gradients and states divided by FSDP2."""

from __future__ import annotations

from typing import Any

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from archcalc.reference.sharded import ShardedLifetimes, faked
from archcalc.verify.hf.theirs import block_names
from archcalc.verify.hf.traced import Recorder, Trace, recorded
from archcalc.verify.hf.training import Setting, Training


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
