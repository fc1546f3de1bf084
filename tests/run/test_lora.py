"""LoRA in the tree: what it adds, what it freezes, and what PyTorch then computes and keeps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, linear

from archcalc import load
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.core.errors import InputError
from archcalc.reference.measure import training_step
from archcalc.reference.transformer import Transformer
from archcalc.run.lora import Lora, is_adapter
from archcalc.verify.plain import plain

RANK = 8
BF16: dict[str, Any] = {"precision": "bf16"}
SMALL = ["decoder=3", "vocab=100", "d_model=64", "heads=4", "ffn.width=128"]


class Adapted(nn.Module):
    """W x + B A x, scaled."""

    def __init__(self, base: nn.Linear) -> None:
        super().__init__()
        self.base = base
        self.a = nn.Parameter(torch.zeros(RANK, base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, RANK))

    def forward(self, x: Tensor) -> Tensor:
        added = self.base(x) if self.base.bias is None else linear(x, self.base.weight)
        added = added + linear(linear(x, self.a), self.b) * 2.0
        return added if self.base.bias is None else added + self.base.bias


@pytest.mark.parametrize("name", ["gpt2", "llama-3-8b"])
@pytest.mark.parametrize("targets", [("q", "v"), ("all",)])
def test_pytorch_computes_and_keeps_the_same(name: str, targets: tuple[str, ...]) -> None:
    """Every other weight frozen: FLOPs of the backward pass, and saved bytes, to the unit."""
    model = load(name, set=[*SMALL, "kv_heads=2"])
    with torch.device("meta"):
        net = Transformer(plain(model.resolved), {"attention": "eager", "recompute": "none"})
        net.requires_grad_(False)
        for path, module in list(net.named_modules()):
            if isinstance(module, nn.Linear) and (targets == ("all",) or path.rpartition(".")[2] in targets):
                setattr(net.get_submodule(path.rpartition(".")[0]), path.rpartition(".")[2], Adapted(module))
        ids, goal = torch.zeros(2, 16, dtype=torch.long), torch.zeros(32, dtype=torch.long)
    truth = training_step(net, lambda: cross_entropy(net(ids).flatten(0, 1), goal))
    root = model.build(model.workload(batch=2, seq=16))
    Lora(RANK, targets)(root)
    done, kept = work(root, trainable=is_adapter), saved_activations(root, "fp32", trainable=is_adapter)
    assert (done.forward, done.backward, kept.bytes) == (truth.forward, truth.backward, truth.saved)


def test_adapters_are_two_thin_matrices_beside_each_target() -> None:
    """rank × (in + out) for each of q and v in 12 blocks, in every figure that memory gives."""
    report = load("gpt2").memory(mode="train", precision="fp32", lora=RANK, batch=1, seq=64, code="plain")
    adapters = 12 * 2 * RANK * (768 + 768)
    assert report.states == {
        "weights": 4 * (124_439_808 + adapters),
        "master": 0,
        "gradients": 4 * adapters,
        "optimizer": 8 * adapters,
    }


def test_a_weight_that_is_used_twice_has_one_adapter() -> None:
    """DeBERTa projects its relative positions with the same q and k."""
    report = load("deberta-v3-base").memory(mode="train", precision="fp32", lora=RANK, lora_targets=("q",), batch=1)
    assert report.states["gradients"] == 4 * 12 * RANK * (768 + 768)


def test_qlora_keeps_the_base_in_four_bits() -> None:
    """Linear layers of the blocks in NF4; table, head and norms in fp32, to which prepare_model_for_kbit_training casts
    them, or in bf16 where a trainer leaves that out; adapters in fp32 (autocast_adapter_dtype)."""
    model = load("llama-2-7b")
    linears = 32 * (4 * 4096 * 4096 + 3 * 4096 * 11008)
    rest = 6_738_415_616 - linears
    adapters = 32 * 2 * 16 * 2 * 4096
    usual, narrow = (
        model.memory(mode="train", weights="nf4", lora=16, batch=1, seq=64, **options) for options in ({}, BF16)
    )
    assert usual.states["weights"] == linears * 9 // 16 + 4 * rest + 4 * adapters
    assert narrow.states["weights"] == linears * 9 // 16 + 2 * rest + 4 * adapters
    assert any("quantised training" in words for words in usual.estimates)


def test_older_bitsandbytes_keeps_what_frozen_layers_read() -> None:
    """litgpt took a newer one on 28 December 2024. Until then 4,096 numbers a token stayed for attention's output and
    for gate and up, 11,008 for down, 4,096 for the head, and for queries, keys and values in all layers but the first,
    which reads frozen embeddings."""
    ask: dict[str, Any] = {"mode": "train", "precision": "bf16", "lora": 8, "batch": 1, "seq": 64, "depth": 1}
    ask["weights"] = "nf4_lightning"
    days = ("2024-12-28", "2024-12-27")
    freed, held = (load("llama-2-7b").memory(**ask, code=f"litgpt@{day}").rows[0] for day in days)
    assert held.parts["activations"] - freed.parts["activations"] == 64 * 2 * (
        32 * (4096 + 4096 + 11008) + 4096 + 31 * 4096
    )


def test_a_target_that_is_not_there_is_named() -> None:
    """With the names of those that are."""
    with pytest.raises(InputError, match="no linear layer is called q_proj") as raised:
        load("gpt2").memory(mode="train", lora=4, lora_targets=("q_proj",))
    assert "attention" in raised.value.hint


def test_frozen_layers_keep_neither_gradients_nor_states() -> None:
    """A classifier on a frozen encoder trains its head alone."""
    model = load("vit-b-16")
    report = model.memory(mode="train", precision="fp32", freeze=("embedding", "encoder"), batch=2, code="plain")
    head = 768 * 1000 + 1000
    assert (report.states["gradients"], report.states["optimizer"]) == (4 * head, 8 * head)
    assert report.rows[0].parts["activations"] == 4 * 2 * 197 * 768


QWEN = str(Path(__file__).parents[2] / "docs" / "examples" / "qwen3-vl-2b" / "config.json")


def test_a_frozen_tower_has_no_adapters() -> None:
    """The usual recipe for a vision-language model: its language model alone is adapted."""
    model = load(QWEN)
    frozen = model.memory(mode="train", lora=8, lora_targets="all-linear", freeze="vision,merger")
    text = model.part("text").memory(mode="train", lora=8, lora_targets="all")
    assert frozen.trainable == text.trainable
    saved = {row.path: row.parts["activations"] for row in frozen.rows}
    assert saved["vision"] == saved["merger"] == 0 < saved["text"]


@pytest.mark.parametrize(("target", "here"), [("q_proj", "q"), ("o_proj", "out"), ("up_proj", "up")])
def test_targets_by_the_names_of_checkpoints(target: str, here: str) -> None:
    model = load("llama-3.2-1b")
    found = [model.memory(mode="train", lora=8, lora_targets=name).trainable for name in (target, here)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("asked", "fact"),
    [
        ({"freeze": "vision", "lora_targets": "vision"}, "every layer with an adapter is frozen"),
        ({"freeze": "embedding"}, "embedding has none"),
        ({"freeze": "visn"}, "no layer is called visn"),
    ],
)
def test_freezing_what_has_no_adapters_is_refused(asked: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact) as found:
        load(QWEN).memory(mode="train", lora=8, **asked)
    assert found.value.field == "--freeze"
