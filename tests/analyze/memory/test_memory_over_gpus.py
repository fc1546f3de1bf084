"""A training step over several GPUs, in one process with a fake process group: FSDP2's peak, DTensor's saved bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from sharded_steps import ShardedLifetimes, faked
from support.saved_by_blocks import saved_by_blocks
from torch.distributed.tensor import DTensor, Replicate, Shard
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    RowwiseParallel,
    loss_parallel,
    parallelize_module,
)
from torch.nn.functional import cross_entropy

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.reference.block import Block
from archcalc.reference.layers import recomputed
from archcalc.reference.transformer import Transformer
from archcalc.run.tree_changes import traced
from archcalc.verify.plain import plain

if TYPE_CHECKING:
    from archcalc.model import Model

RECOMPUTE = {"none": "none", "ops": "ops", "full": "block"}
SMALL = ["vocab=1000", "d_model=256", "heads=8", "kv_heads=4", "ffn.width=1024"]


def blocks_of(model: Model, recompute: str = "none") -> tuple[Transformer, list[Block]]:
    net = Transformer(plain(model.resolved), {"attention": "eager", "recompute": RECOMPUTE[recompute]})
    return net, [module for module in net.modules() if isinstance(module, Block)]


@pytest.mark.parametrize(
    ("recompute", "batch", "seq"), [("none", 1, 32), ("ops", 1, 32), ("none", 4, 256), ("full", 4, 256)]
)
def test_zero_3_peaks_as_fsdp2_does(recompute: str, batch: int, seq: int) -> None:
    """PyTorch's own tracker: fp32 shards, bf16 gathered, gradients summed in fp32. It sees a few gradients of the
    residual stream more, which autograd holds between blocks, and what the caller passes in: less than a fiftieth."""
    from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    model = load("llama-3-8b", set=[*SMALL, "decoder=3"])
    with faked(8) as mesh:
        net, blocks = blocks_of(model, recompute)
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for each in (*blocks, net):
            fully_shard(each, mesh=mesh, mp_policy=policy)
        steps = torch.optim.SGD(net.parameters(), lr=0.1, foreach=False)
        ids, targets = torch.zeros(batch, seq, dtype=torch.long), torch.zeros(batch * seq, dtype=torch.long)
        tracker: Any = FSDPMemTracker(net, steps)
        tracker.track_inputs((ids, targets))
        with tracker:
            loss: Any = cross_entropy(net(ids).flatten(0, 1).float(), targets)
            loss.backward()
        truth = next(iter(tracker.get_tracker_snapshot("peak").values()))["Total"]
    options: dict[str, Any] = {
        "code": "plain",
        "optimizer": "sgd",
        "attention": "eager",
        "overhead": 0,
        "dp": 8,
        "zero": 3,
    }
    ours = model.memory(mode="train", precision="mixed", batch=batch, seq=seq, recompute=recompute, **options)
    assert 0 <= truth - ours.total_bytes <= truth // 50


PLAN = {
    "attention": PrepareModuleInput(
        input_layouts=(Shard(1), None, None), desired_input_layouts=(Replicate(), None, None)
    ),
    "attention.q": ColwiseParallel(),
    "attention.k": ColwiseParallel(),
    "attention.v": ColwiseParallel(),
    "attention.out": RowwiseParallel(output_layouts=Shard(1)),
    "ffn": PrepareModuleInput(input_layouts=(Shard(1), None, None), desired_input_layouts=(Replicate(), None, None)),
    "ffn.gate": ColwiseParallel(),
    "ffn.up": ColwiseParallel(),
    "ffn.down": RowwiseParallel(output_layouts=Shard(1)),
}


@pytest.mark.parametrize("recompute", RECOMPUTE)
def test_sequence_parallel_blocks_keep_what_dtensor_keeps(recompute: str) -> None:
    """torchtitan's layout, without norms, whose kernels differ: to the byte. The caller holds what enters the first
    block and what leaves the last; two tables and a mask are made before."""
    batch, seq, gpus = 2, 64, 4
    model = load("llama-3-8b", set=[*SMALL, "decoder=2", "norm=none"])
    with faked(gpus) as mesh:
        net, blocks = blocks_of(model, recompute)
        for block in blocks:
            parallelize_module(block, mesh, PLAN)
        own = {p.to_local() if isinstance(p, DTensor) else p for p in net.parameters()}
        first = x = torch.zeros(batch, seq // gpus, 256, requires_grad=True)
        stack: Any = net.decoder
        given = stack.constants(torch.zeros(batch, seq, 256), 0)
        names, constants = list(given), list(given.values())
        with ShardedLifetimes() as made:
            for block in blocks:
                if recompute == "none":
                    (x,) = block(names, None, x, *constants)
                else:
                    (x,) = recomputed(block, names, None, x, *constants, op_by_op=recompute == "ops")
        apart = {tensor.untyped_storage()._cdata for tensor in (*own, first, x, *constants)}
        truth = sum(size for address, size in made.addresses().items() if address not in apart)
    plan: dict[str, Any] = {"tp": gpus, "sp": True, "code": "plain"}
    ask = Memory(model, mode="train", precision="fp32", attention="eager", recompute=recompute, **plan)
    root = traced(ask.deployment.network, ask.deployment.run, model.workload(batch=batch, seq=seq))
    ours = saved_by_blocks(ask, root)
    entering = 4 * batch * seq // gpus * 256 if recompute != "none" else 0
    tables = 2 * 4 * seq * 32 + seq * seq
    assert ours == truth + entering + tables


class Counted(ShardedLifetimes):  # type: ignore[no-untyped-call]  # PyTorch leaves it untyped
    """`peak` is how many storages of one size were there at once."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.size, self.peak = size, 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = super().__torch_dispatch__(func, types, args, kwargs)
        self.peak = max(self.peak, sum(one.bytes == self.size for one in self.alive()))
        return result


def test_a_loss_over_a_divided_vocabulary_holds_four_tensors() -> None:
    """Going back, where a whole one holds three: the log-probabilities, their gradient, and two more on the way."""
    tokens, vocabulary, gpus = 512, 8000, 8
    with faked(gpus) as mesh:
        logits = torch.zeros(tokens, vocabulary // gpus, requires_grad=True)
        targets = torch.zeros(tokens, dtype=torch.long)
        with Counted(4 * tokens * vocabulary // gpus) as seen, loss_parallel():
            loss: Any = cross_entropy(DTensor.from_local(logits * 1, mesh, [Shard(1)], run_check=False), targets)
            seen.peak = 0
            loss.backward()
    model = load("llama-3-8b", set=["vocab=8000", "decoder=1", "d_model=64", "ffn.width=64"])
    report = model.memory(mode="train", precision="bf16", code="plain", batch=1, seq=tokens, tp=gpus)
    assert report.peak.phase == "backward"
    assert report.parts["logits"] // (4 * tokens * vocabulary // gpus) == seen.peak == 4


def test_transformers_gathers_all_logits_on_every_gpu() -> None:
    """Its tp_plan has lm_head as colwise_gather_output; 2 + 4 + 4 bytes for each, and nothing beside them."""
    model = load("llama-3-8b", set=["vocab=8000", "decoder=1", "d_model=64", "ffn.width=64"])
    asked = [model.memory(mode="train", precision="bf16", batch=1, seq=512, tp=gpus) for gpus in (1, 8)]
    held = [next(one for one in report.instants if one.phase == "loss").parts["logits"] for report in asked]
    assert held[0] == held[1] >= 512 * 8000 * (2 + 4 + 4)
