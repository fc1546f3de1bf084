"""What each GPU holds, against FSDP2 and DTensor in one process with a fake process group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from support.fake_mesh import mesh_of
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.reference.block import Block
from archcalc.reference.transformer import Transformer
from archcalc.verify.plain import plain

if TYPE_CHECKING:
    from archcalc.model import Model


def network(model: Model) -> torch.nn.Module:
    with torch.device("meta"):
        return Transformer(plain(model.resolved), {"attention": "eager", "recompute": "none"})


def local_bytes(net: torch.nn.Module) -> int:
    """As allocated, padding included."""
    tensors = [p.to_local() if isinstance(p, DTensor) else p for p in net.parameters()]
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


@pytest.mark.wide(5)
@pytest.mark.parametrize("world", [2, 7, 64])
@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b", "t5-small", "textbook"])
def test_zero_3_holds_what_fsdp2_allocates(name: str, world: int) -> None:
    """Every parameter's rows dealt out, the same number for each GPU."""
    model = load(name)
    net = network(model)
    with mesh_of(world) as mesh:
        for block in [module for module in net.modules() if isinstance(module, Block)]:
            fully_shard(block, mesh=mesh)
        fully_shard(net, mesh=mesh)
        truth = local_bytes(net)
    report = model.memory(mode="train", precision="fp32", optimizer="adamw", dp=world, zero=3, batch=1, seq=16)
    assert report.states == {"weights": truth, "master": 0, "gradients": truth, "optimizer": 2 * truth}
    assert world * sum(report.states.values()) == 4 * 4 * model.params().total + report.padding


SHARDS = {  # of a Megatron-style layout: columns of what goes in, rows of what comes out
    "tokens.weight": 0,
    "q.weight": 0,
    "k.weight": 0,
    "v.weight": 0,
    "q.bias": 0,
    "k.bias": 0,
    "v.bias": 0,
    "out.weight": 1,
    "in.weight": 0,
    "in.bias": 0,
    "gate.weight": 0,
    "up.weight": 0,
    "down.weight": 1,
    "head.weight": 0,
}


@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b"])
@pytest.mark.parametrize("tp", [2, 4])
def test_tensor_parallel_holds_what_dtensor_allocates(name: str, tp: int) -> None:
    """The vocabulary of GPT-2, 50,257, does not divide: the first GPU holds the ceiling."""
    model = load(name)
    net = network(model)
    with mesh_of(tp) as mesh:
        for path, parameter in list(net.named_parameters()):
            dim = next((dim for end, dim in SHARDS.items() if path.endswith(end)), None)
            placed: Any = [Replicate() if dim is None else Shard(dim)]
            owner = net.get_submodule(path.rpartition(".")[0])
            shared = torch.nn.Parameter(distribute_tensor(parameter, mesh, placed))
            setattr(owner, path.rpartition(".")[2], shared)
        truth = local_bytes(net)
    assert model.memory(precision="fp32", tp=tp).parts["weights"] == truth


def test_fewer_kv_heads_than_gpus_are_copied() -> None:
    """8 KV heads on 16 GPUs: each holds one, as on 8, so that half of the cache is held twice."""
    model = load("llama-3-8b")
    eight, sixteen = (model.memory(tp=tp, seq=4096).parts["kv_cache"] for tp in (8, 16))
    assert eight == sixteen == 2 * 32 * 4096 * 1 * 128 * 2


def test_mamba_is_divided_by_its_inner_width() -> None:
    """As vLLM divides it: columns of what goes in, the convolution and the state; rows of what comes out."""
    model = load("mamba-130m")
    one, two = (model.memory(precision="fp32", tp=tp, overhead=0).parts for tp in (1, 2))
    whole = 24 * 768 + 768  # norms
    assert 2 * two["weights"] - one["weights"] == 4 * whole
    assert 2 * two["state"] == one["state"]


def test_mamba_2_copies_a_single_group() -> None:
    """Of B and C, 2 × 128 rows of the projection and of the convolution with its bias; 8 groups are divided."""
    for groups, copied in ((8, 0), (1, 1)):
        model = load("codestral-mamba-7b", set=[f"mamba.groups={groups}"])
        one, two = (model.memory(precision="fp32", tp=tp, overhead=0).parts["weights"] for tp in (1, 2))
        norms = 64 * 4096 + 4096
        rows = 64 * 2 * 128 * (4096 + 4 + 1)
        assert 2 * two - one == 4 * (norms + copied * rows)


def test_one_shard_is_the_whole() -> None:
    """A plan of one GPU changes nothing."""
    model = load("gpt2")
    assert model.memory(mode="train", tp=1, dp=1, zero=0).parts == model.memory(mode="train").parts


@pytest.mark.parametrize(("zero", "each"), [(0, 16 * 64), (1, 4 * 64 + 12), (2, 2 * 64 + 14), (3, 16)])
def test_the_zero_papers_table(zero: int, each: int) -> None:
    """Rajbhandari et al. 2020, arXiv:1910.02054, figure 1: 16 bytes a parameter, ever less of them on 64 GPUs."""
    model = load("llama-2-7b")
    parameters = int(model.params().total)
    report = model.memory(mode="train", precision="mixed", optimizer="adam", dp=64, zero=zero, batch=1, seq=16)
    assert sum(report.states.values()) == parameters * each // 64


def test_the_flat_buffer_is_padded_to_twice_the_gpus() -> None:
    """DeepSpeed's partition of GPT-2's 124,439,808 parameters over 7 GPUs: a multiple of 14."""
    report = load("gpt2").memory(mode="train", precision="fp32", dp=7, zero=1, batch=1, seq=16)
    slices = -(-124_439_808 // 14) * 14 // 7
    assert report.states["optimizer"] == 2 * 4 * slices
    assert sum(row.parts["optimizer"] for row in report.rows if row.path in ("model", "padding")) == 2 * 4 * slices


@pytest.mark.parametrize(
    ("name", "options", "fact"),
    [
        ("llama-3-8b", {"tp": 3}, "ffn 14,336 cannot be split over 3 GPUs"),
        ("gpt2", {"tp": 8}, "heads 12 cannot be split over 8 GPUs"),
        ("linear-autoencoder", {"tp": 2}, "nothing in this model can be split"),
        ("codestral-mamba-7b", {"tp": 16}, "gate inner b c dt 18,560 cannot be split over 16 GPUs"),
        ("llama-3-8b", {"mode": "train", "sp": True}, "sequence parallelism needs tensor parallelism"),
        (
            "mixtral-8x7b",
            {"mode": "train", "tp": 2, "sp": True},
            "archcalc does not know sequence parallelism for decoder.blocks.moe.router",
        ),
        (
            "jamba-v0.1",
            {"mode": "train", "cp": 2, "attention": "flash"},
            "has a state that is passed from one position",
        ),
        ("gpt2", {"mode": "train", "zero": 2}, "ZeRO stage 2 shards over data-parallel GPUs"),
        ("gpt2", {"mode": "train", "dp": 2, "zero": 4}, "no ZeRO stage 4"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(name: str, options: dict[str, Any], fact: str) -> None:
    """As engines refuse it."""
    with pytest.raises(InputError, match=fact):
        load(name).memory(**options)


def test_the_hint_names_splits_that_work() -> None:
    """Of heads 32, KV heads 8 and an inner width of 14,336, all at once."""
    with pytest.raises(InputError) as raised:
        load("llama-3-8b").memory(tp=3)
    assert raised.value.hint == "--tp may be 2, 4, 8, 16, 32"
