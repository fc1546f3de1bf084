"""Training with optimizer states, parameters and activations in host RAM."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.fake_mesh import mesh_of
from torch.distributed.fsdp import CPUOffloadPolicy, fully_shard
from torch.distributed.tensor import DTensor

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.peak import peak
from archcalc.analyze.memory.report import MemoryReport
from archcalc.core.errors import InputError
from archcalc.reference.block import Block
from archcalc.reference.transformer import Transformer
from archcalc.simulate.passes import offloaded_activations
from archcalc.simulate.passes.offloaded_activations import offloaded_bytes
from archcalc.spec.sizes import Sizes
from archcalc.verify.plain import plain

SMALL = ["decoder=4", "vocab=512", "d_model=256", "heads=8", "kv_heads=4", "ffn.width=512"]
GB = 10**9


def asked(name: str, **options: Any) -> Any:
    return load(name).memory(mode="train", **options)


def test_the_optimizer_in_host_ram_takes_18_bytes_a_parameter() -> None:
    """4 of master weights, 4 of their gradients, 8 of Adam's states and 2 of the buffer for new weights: 10 bytes
    before the first step and 8 with it, as measured in github.com/deepspeedai/DeepSpeed/issues/7693. Besides, one
    gradient of the largest parameter, and what pinned memory is rounded up to: 4 × 1.54 billion bytes to 8 GiB."""
    number, table = load("qwen2.5-1.5b").params().total, 151_936 * 1536
    report = asked("qwen2.5-1.5b", batch=1, seq=64, precision="mixed", optimizer="adamw-fused", offload="optimizer")
    assert report.host and number == 1_543_714_304
    parts = dict(report.host.parts)
    assert parts.pop("optimizer") == pytest.approx(8 * number, rel=1e-6)
    assert parts == {
        "master": 4 * number,
        "gradients": 4 * number,
        "staging": 2 * number + 2 * table,
        "pinned": 2 * (2**33 - 4 * number) + (2**32 - 2 * number) + (2**29 - 2 * table),
    }
    assert report.parts["buffers"] == 2 * table
    assert report.states == {"weights": 2 * number, "master": 0, "gradients": 0, "optimizer": 0}
    assert report.parts["gradients"] == 0


@pytest.mark.parametrize(("offload", "bytes_each"), [("optimizer", 16), ("optimizer,params", 18)])
def test_host_ram_lies_within_deepspeed_s_own_estimate(offload: str, bytes_each: int) -> None:
    """estimate_zero3_model_states_mem_needs multiplies 16 or 18 bytes a parameter with 1.5, for buffers."""
    number = load("t5-3b").params().total
    report = asked("t5-3b", batch=1, src_seq=64, tgt_seq=64, precision="mixed", dp=8, zero=3, offload=offload)
    assert bytes_each * number < report.host_bytes < 1.5 * bytes_each * number


def test_220_gb_a_machine_for_100_billion_parameters() -> None:
    """github.com/deepspeedai/DeepSpeed/issues/912: 8 machines with 8 GPUs, ZeRO-3 and all offloaded, 220 GB each.
    Today's DeepSpeed has one more buffer of 2 bytes than that of 2021, and PyTorch rounds pinned memory up."""
    gpt = load("gpt-3-175b", set=["decoder=54"])
    number = gpt.params().total
    report = gpt.memory(
        mode="train", batch=1, seq=1024, precision="mixed", dp=64, zero=3, recompute="full", offload="optimizer,params"
    )
    assert number == pytest.approx(100 * GB, rel=0.03)
    assert report.host
    exact = report.host_bytes - report.host.parts["pinned"] - report.host.parts["freed"]
    assert exact / 8 == pytest.approx(220 * GB * 20 / 18, rel=0.05)


def test_pinned_gradients_of_a_2_7b_model_on_eight_gpus() -> None:
    """github.com/deepspeedai/DeepSpeed/issues/4775: ZeRO-3, on eight by the 0.63 GiB of fp16 weights that each has. As
    optimizer states are initialised, which makes the pinned gradients, memory grows from 63.86 to 81.11 GiB."""
    options: dict[str, Any] = {"batch": 1, "seq": 64, "precision": "mixed", "dp": 8, "zero": 3, "offload": "optimizer"}
    report = asked("opt-2.7b", **options)
    assert report.host
    each, weights = report.host.each, report.states["weights"]
    assert weights == pytest.approx(0.63 * 2**30, rel=0.03)
    staged = 2**30 - each["staging"]
    rounded = 8 * (each["gradients"] + each["pinned"] - staged)
    assert rounded == 16 * 2**30
    assert rounded == pytest.approx((81.11 - 63.86) * 2**30, rel=0.1)


def test_parameters_in_host_ram_leave_free_pinned_blocks() -> None:
    """ZeRO-Infinity on one GPU: shards are pinned one by one, and moved to a flat buffer. Gradients come in groups of a
    billion: of 1.54 billion, 4 billion bytes in 4 GiB and 2.17 billion in 4 GiB."""
    model = load("qwen2.5-1.5b")
    number, billion = model.params().total, 10**9
    report = model.memory(mode="train", batch=1, seq=64, precision="mixed", offload="optimizer,params")
    assert report.host
    parts = report.host.parts
    assert (parts["weights"], parts["freed"], parts["staging"]) == (2 * number,) * 3
    flat = 2**32 - 2 * number
    groups = (2**32 - 4 * billion) + (2**32 - 4 * (number - billion))
    table, wide, square, narrow = 151_936 * 1536, 8960 * 1536, 1536 * 1536, 256 * 1536
    blocks = {table: 1, wide: 3 * 28, square: 2 * 28, narrow: 2 * 28, 1536: 3 * 28 + 1, 256: 2 * 28}
    assert sum(size * times for size, times in blocks.items()) == number
    shards = sum(times * (2 ** (2 * size - 1).bit_length() - 2 * size) for size, times in blocks.items())
    assert parts["pinned"] == 2 * flat + groups + shards


def test_sums_of_micro_batches_are_pinned_one_by_one() -> None:
    """Below stage 3: 2 more bytes a parameter, and a gradient of 8,960 × 1,536 in 27.5 MB takes 32 MiB."""
    one, four = (
        asked("qwen2.5-1.5b", batch=1, seq=64, precision="mixed", accumulate=number, offload="optimizer")
        for number in (1, 4)
    )
    assert one.host and four.host
    grown = {part: four.host.parts[part] - size for part, size in one.host.parts.items()}
    assert grown["staging"] == 2 * load("qwen2.5-1.5b").params().total
    assert grown["pinned"] > 3 * 28 * (2**25 - 2 * 8960 * 1536)
    assert grown["master"] == grown["gradients"] == grown["optimizer"] == 0


def test_70b_qlora_on_two_24_gb_cards() -> None:
    """axolotl's users measured 14 GB on each with FSDP's CPU offload, and ran out of memory without it: the weights
    alone take 21 (github.com/axolotl-ai-cloud/axolotl/issues/1428)."""
    options: dict[str, Any] = {"lora": 16, "lora_targets": "all", "weights": "nf4", "recompute": "full"}
    options |= {"batch": 1, "seq": 512, "dp": 2, "zero": 3, "overhead": 0}
    here, there = asked("llama-3-70b", **options), asked("llama-3-70b", **options, offload="params")
    assert here.states["weights"] > 21 * GB
    assert here.required_bytes > 24 * 2**30
    assert there.states["weights"] == 0
    assert there.reserved_bytes == pytest.approx(14 * GB, rel=0.1)


def local_bytes(net: torch.nn.Module) -> int:
    tensors = [p.to_local() if isinstance(p, DTensor) else p for p in net.parameters()]
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


@pytest.mark.parametrize("world", [1, 2, 7])
def test_offloaded_shards_are_those_of_fsdp2(world: int) -> None:
    model = load("llama-3-8b", set=SMALL)
    net = Transformer(plain(model.resolved), {"attention": "eager", "recompute": "none"})
    policy = CPUOffloadPolicy(pin_memory=False)
    with mesh_of(world) as mesh:
        for block in [module for module in net.modules() if isinstance(module, Block)]:
            fully_shard(block, mesh=mesh, offload_policy=policy)
        fully_shard(net, mesh=mesh, offload_policy=policy)
        truth = local_bytes(net)
        assert {p.device.type for p in net.parameters()} == {"cpu"}
    report = model.memory(mode="train", precision="fp32", optimizer="adamw", dp=world, batch=1, offload="params")
    assert report.host
    kept = {part: size for part, size in report.host.each.items() if part != "pinned"}
    assert kept == {"weights": truth, "master": 0, "gradients": truth, "optimizer": 2 * truth, "activations": 0}


def test_pinned_memory_comes_in_powers_of_two() -> None:
    """A shard of 5,120 × 27,648 numbers in fp32 takes 566 MB, and pinned 1 GiB."""
    report = asked("qwen2.5-32b", precision="fp32", batch=1, seq=16, recompute="full", offload="params")
    assert report.host
    assert report.host.parts["pinned"] > 2 * 64 * 3 * (2**30 - 4 * 5120 * 27648)


class Kept:
    """The storages that each block of a net saves, its parameters left out, and whether a later block does so too."""

    def __init__(self, net: torch.nn.Module) -> None:
        self.blocks = [module for module in net.modules() if isinstance(module, Block)]
        self.params = {p.untyped_storage()._cdata for p in net.parameters()}
        self.by_block: list[dict[int, int]] = []
        self.alive: list[torch.Tensor] = []
        for block in self.blocks:
            block.register_forward_pre_hook(self._enter)
            block.register_forward_hook(self._leave)

    def _enter(self, *_: Any) -> None:
        self.by_block.append({})
        self.hooks = torch.autograd.graph.saved_tensors_hooks(self._pack, lambda tensor: tensor)
        self.hooks.__enter__()

    def _leave(self, *_: Any) -> None:
        self.hooks.__exit__(None, None, None)

    def _pack(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        if storage._cdata not in self.params:
            self.by_block[-1][storage._cdata] = storage.nbytes()
            self.alive.append(tensor)
        return tensor

    @property
    def leaving(self) -> int:
        """Of all blocks but the last, what the last does not save as well; the layers' constants are no activations."""
        last = self.by_block[-1]
        found = {key: size for block in self.by_block[:-1] for key, size in block.items() if key not in last}
        return sum(found.values())


@pytest.mark.parametrize("attention", ["eager", "flash"])
def test_what_leaves_is_what_pytorch_saves_in_blocks(attention: str) -> None:
    """All that autograd saves in the blocks but the last, by storage; archcalc's layers are compared with these."""
    model = load("gpt2", set=["decoder=4", "vocab=512", "d_model=256", "heads=8"])
    with torch.device("meta"):
        net = Transformer(plain(model.resolved), {"attention": attention, "recompute": "none"})
        kept = Kept(net)
        net(torch.zeros(2, 64, dtype=torch.long))
    options: dict[str, Any] = {"precision": "fp32", "attention": attention, "code": "plain", "offload": "activations"}
    memory = Memory(model, mode="train", **options)
    assert offloaded_bytes(peak(memory.deployment, Sizes(2, 64)).step.schedule) == kept.leaving


def test_with_recomputed_blocks_only_their_inputs_leave() -> None:
    """github.com/huggingface/transformers/issues/48444: 36 GiB of block inputs, of Qwen3-8B with 128k tokens."""
    options: dict[str, Any] = {"recompute": "full", "lora": 16, "loss_chunks": 64, "code": "plain"}
    report = asked("qwen3-8b", batch=1, seq=131072, **options, offload="activations")
    assert report.host
    assert report.host.parts == {"activations": 35 * 131072 * 4096 * 2}
    assert report.host.crossing == (report.host_bytes, report.host_bytes)


def test_blocks_that_are_offloaded_take_no_memory_with_their_number() -> None:
    """On the GPU are the block at work and its neighbour, whatever the depth."""
    options: dict[str, Any] = {"lora": 8, "batch": 1, "seq": 2048, "overhead": 0, "code": "plain"}
    models = [load("llama-3-8b", set=[f"decoder={layers}"]) for layers in (8, 16, 24)]
    one, two, three = (model.memory(mode="train", **options, offload="activations") for model in models)
    assert one.parts["activations"] == two.parts["activations"] == three.parts["activations"]
    assert two.host_bytes - one.host_bytes == three.host_bytes - two.host_bytes > 0


def reserved_by_torchtitan(**options: Any) -> float:
    """GiB of Llama 3 8B over 8 GPUs, with one sequence of 8,192 tokens each."""
    options |= {"code": "torchtitan@2024-07", "recompute": "none", "dp": 8, "zero": 3, "overhead": 0}
    report: MemoryReport = asked("llama-3-8b", batch=1, seq=8192, **options)
    return report.reserved_bytes / 2**30


def test_torchtitan_saves_so_much_by_offloading(monkeypatch: pytest.MonkeyPatch) -> None:
    """github.com/pytorch/torchtitan, 9dc418a: 78.38 GiB reserved without, 54.01 with offload, 65.67 where weights stay
    gathered. Only tensors as large as the inside of a feed-forward layer were offloaded."""
    every = offloaded_activations._is_activation
    large = 14336 * 8192
    monkeypatch.setattr(
        offloaded_activations,
        "_is_activation",
        lambda schedule, cell: every(schedule, cell) and int(cell.tensor.size) >= large,
    )
    here, there = reserved_by_torchtitan(), reserved_by_torchtitan(offload="activations")
    gathered = reserved_by_torchtitan(offload="activations", reshard_after_forward="never")
    assert here - there == pytest.approx(78.38 - 54.01, rel=0.06)
    assert here - gathered == pytest.approx(78.38 - 65.67, rel=0.06)


@pytest.mark.parametrize("recompute", ["none", "selective", "full"])
def test_loops_and_single_blocks_agree(recompute: str) -> None:
    """The step with its equal blocks as a loop has the peak of the step in which every block is followed."""
    model = load("llama-3-8b", set=[*SMALL, "decoder=9"])
    for offload in ("activations", "params", "optimizer,activations"):
        options: dict[str, Any] = {"recompute": recompute, "offload": offload, "overhead": 0}
        report = model.memory(mode="train", batch=2, seq=128, **options)
        assert report.device
        assert report.device.value.tensors == report.total_bytes


def test_the_gpu_gets_new_weights_and_gives_gradients_once_a_step() -> None:
    number = load("tinyllama-1.1b").params().total
    report = asked("tinyllama-1.1b", batch=1, seq=64, precision="mixed", offload="optimizer", code="plain")
    assert report.host
    assert report.host.crossing == (2 * number, 4 * number)


def test_shards_cross_the_bus_for_both_passes_of_every_micro_batch() -> None:
    number = load("tinyllama-1.1b").params().total
    options: dict[str, Any] = {"precision": "mixed", "accumulate": 3, "offload": "params", "code": "plain"}
    twice = asked("tinyllama-1.1b", batch=1, seq=64, **options)
    once = asked("tinyllama-1.1b", batch=1, seq=64, reshard_after_forward="never", **options)
    assert twice.host
    assert once.host
    assert twice.host.crossing == (3 * 2 * 4 * number, 3 * 4 * number)
    assert once.host.crossing == (3 * 4 * number, 3 * 4 * number)


def test_a_frozen_table_is_read_in_host_ram() -> None:
    options: dict[str, Any] = {"batch": 2, "seq": 64, "lora": 8, "precision": "mixed"}
    here, there = asked("llama-3-8b", **options), asked("llama-3-8b", **options, offload="embedding")
    table = 2 * 128256 * 4096
    assert there.host
    assert there.host.parts == {"weights": table}
    assert here.parts["weights"] - there.parts["weights"] == table
    assert there.host.crossing == (2 * 64 * 4096 * 2, 0)


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("llama-3-8b", {"offload": "experts"}, "experts has no effect with --mode train"),
        ("llama-3-8b", {"offload": "embedding"}, "an input table that is trained stays on the GPU"),
        ("gpt2", {"offload": "embedding", "lora": 8}, "the output layer multiplies with the input table"),
        ("llama-3-8b", {"offload": "params", "dp": 2, "zero": 2}, "ZeRO stage 2 keeps all parameters on every GPU"),
        ("llama-3-8b", {"offload": "embedding", "lora": 8, "dp": 2, "zero": 3}, "ZeRO-3 gathers the input tables"),
        ("llama-3-8b", {"offload": "optimizer", "code": "megatron"}, "megatron"),
        ("lenet-5", {"offload": "activations"}, "this model has no blocks"),
    ],
)
def test_what_has_no_sense_is_refused(name: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        asked(name, batch=1, **options)
    assert told in refused.value.told()
