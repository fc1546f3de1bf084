"""What a training code runs where a question leaves it open: precision, checkpointing, optimizer, with sources."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory.answer import Memory
from archcalc.core.errors import InputError
from archcalc.model import Model
from archcalc.run.code import code
from archcalc.run.code.library import known
from archcalc.run.code.rules import meant, recipe_defaults
from archcalc.run.options import Options
from archcalc.run.precision_recipes import recipe
from archcalc.spec import paths

QLORA: dict[str, Any] = {"lora": 64, "lora_targets": ("all",), "weights": "nf4_dq"}
SMALL = ["decoder=2", "vocab=1000", "d_model=256", "heads=4", "kv_heads=2", "ffn.width=512"]
LLAMA_65B = {  # Touvron et al. 2023, arXiv:2302.13971, table 2
    "name": "LLaMA 65B",
    "transformers": "llama",
    "precision": "fp16",
    "vocab": 32000,
    "d_model": 8192,
    "heads": 64,
    "decoder": 80,
    "ffn": {"width": 22016, "act": "silu", "gated": True},
    "norm": "rms",
    "position": {"kind": "rope", "length": 2048},
    "bias": False,
    "head": "lm",
}


def options(**given: Any) -> Options:
    return Options.of("memory", {"mode": "train", **given})


@pytest.mark.parametrize("name", paths.presets("recipes"))
def test_every_recipe_is_read(name: str) -> None:
    found = recipe(name)
    assert found.name == name
    assert found.source or name in ("fp32", "bf16")


@pytest.mark.parametrize("name", known())
def test_every_default_has_a_reason_and_a_source(name: str) -> None:
    for given in ({}, {"zero": 3, "dp": 2}, QLORA):
        for default in recipe_defaults(code(name, "llama"), options(**given)).values():
            assert default.why and default.source


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("transformers", {}, "autocast"),
        ("transformers", {"dp": 8, "zero": 3}, "accelerate"),
        ("transformers", {"dp": 8, "zero": 2}, "deepspeed"),
        ("transformers", {"offload": "optimizer"}, "deepspeed"),
        ("transformers", {"lora": 8}, "lora"),
        ("transformers", {"lora": 8, "weights": "bf16"}, "lora"),
        ("transformers", {"lora": 8, "weights": "nf4"}, "qlora"),
        ("transformers", {"lora": 8, "weights": "nf4", "dp": 2, "zero": 3}, "accelerate-lora"),
        ("plain", {}, "autocast"),
        ("plain", {"dp": 8, "zero": 3}, "fsdp2"),
        ("plain", {"dp": 8, "zero": 1}, "deepspeed"),
        ("torchtitan", {"dp": 8, "zero": 3}, "fsdp2"),
        ("torchtitan", {}, "autocast"),
        ("litgpt", {"dp": 2, "zero": 3}, "lightning"),
        ("megatron", {}, "megatron"),
    ],
)
def test_mixed_precision_is_what_the_code_runs(name: str, given: dict[str, Any], found: str) -> None:
    assert meant(code(name, "llama"), options(precision="mixed", **given), {}, None).name == found


@pytest.mark.parametrize(
    ("name", "word", "given", "fact"),
    [
        ("torchtune", "mixed", {}, "without mixed precision"),
        ("litgpt", "mixed", {"lora": 8, "weights": "nf4"}, "not both"),
        ("megatron", "bf16", {}, "no fp32 main gradients"),
        ("plain", "fp8-gathered", {}, "weights that FSDP shards"),
        ("plain", "fp7", {}, "no training precision called fp7"),
    ],
)
def test_a_precision_that_a_code_lacks_is_refused(name: str, word: str, given: dict[str, Any], fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        meant(code(name), options(precision=word, **given), {}, None)


def test_every_word_means_something_by_every_code() -> None:
    words = dict(code("plain").precisions)
    assert {word for name in known() for word in code(name, "llama").precisions} == set(words)


# LoRA and QLoRA


def llama(**given: Any) -> Memory:
    return Memory(load("llama-3-8b", set=SMALL), mode="train", **given)


def test_lora_has_a_16_bit_base_and_fp32_adapters() -> None:
    """rank × (in + out) of q and v in two blocks: 4 bytes each, as many for gradients, 8 for AdamW's states."""
    adapters = 2 * 8 * ((256 + 256) + (256 + 128))
    report = llama(lora=8).at(1, 16)
    base = load("llama-3-8b", set=SMALL).params().total
    assert report.states["weights"] == 2 * base + 4 * adapters
    assert (report.states["gradients"], report.states["master"]) == (4 * adapters, 0)
    assert report.states["optimizer"] == 8 * adapters + 4 * 8  # and a counter for each of eight matrices


def test_a_model_of_fp32_files_is_adapted_in_fp32() -> None:
    found = Memory(load("gpt2"), mode="train", lora=8).deployment.run
    assert found.recipe and (found.recipe.name, found.format.name) == ("fp32", "fp32")


def test_qlora_checkpoints_and_pages_unless_told_otherwise() -> None:
    usual = llama(**QLORA).deployment.run
    assert usual.code.name == "transformers" and usual.recipe and usual.optimizer
    assert (usual.recipe.name, usual.recompute, usual.optimizer.name) == ("qlora", "block", "adamw-paged")
    other = llama(**QLORA, recompute="none", optimizer="adamw").deployment.run
    assert other.optimizer and (other.recompute, other.optimizer.name) == ("none", "adamw")


def test_qlora_s_residual_stream_is_in_fp32() -> None:
    """Embeddings and norms are cast by prepare_model_for_kbit_training, so that recomputed blocks are given fp32."""
    tokens, width = 2 * 64, 256
    found = {}
    for name, given in (("upcast", {}), ("as loaded", {"precision": "bf16"})):
        memory = llama(lora=8, weights="nf4", recompute="full", **given)
        rows = {row.path: row for row in memory.at(2, 64).rows}
        found[name] = rows["decoder.blocks"].parts["activations"]
    assert found["upcast"] - found["as loaded"] >= 2 * tokens * width * (4 - 2) - 2 * tokens * width


@pytest.mark.parametrize("changes", [{}, {"transformers": None}])
def test_qlora_of_65_billion_parameters_fits_48_gb(changes: dict[str, Any]) -> None:
    """Dettmers et al. 2023, arXiv:2305.14314: on one 48 GB GPU, with rank 64 beside every linear layer, batch 1 and 512
    tokens; without checkpointing and paged states it does not."""
    spec = {name: value for name, value in (LLAMA_65B | changes).items() if value is not None}
    model = load(spec)
    assert 65.2e9 < model.params().total < 65.3e9
    assert _needed(model) < 48e9 < _needed(model, optimizer="adamw")


def _needed(model: Model, **given: Any) -> int:
    return model.memory(mode="train", batch=1, seq=512, **QLORA, **given).required_bytes


# Nothing leaves the code of the model's class


@pytest.mark.parametrize(
    "given",
    [
        {"loss_chunks": 4},
        {"freeze": ("embedding",)},
        {"lora": 8, "weights": "nf4"},
        {"lora": 8, "weights": "int8"},
        {"offload": ("optimizer",)},
        {"offload": ("activations",)},
        {"recompute": "ops"},
        {"recompute": "selective"},
        {"tp": 2},
        {"cp": 2},
        {"compile": "blocks"},
        {"precision": "autocast"},
    ],
)
def test_no_option_leaves_transformers_code(given: dict[str, Any]) -> None:
    """Nor its optimizer, unless the recipe has another one."""
    found = llama(**given).deployment.run
    assert found.code.name == "transformers"
    assert found.optimizer and found.optimizer.name == ("adamw-paged" if "weights" in given else "adamw-fused")


def test_a_loss_in_chunks_holds_one_chunk_of_logits() -> None:
    """One chunk's logits of four are there, in 16 bits, in fp32 and as logarithms; the head reads copied rows."""
    tokens, vocabulary = 2 * 64, 1000
    whole, chunks = (llama(loss_chunks=number).at(2, 64) for number in (1, 4))
    logits = [next(one for one in report.instants if one.phase == "loss").parts["logits"] for report in (whole, chunks)]
    assert logits[0] >= tokens * vocabulary * (2 + 4 + 4)
    assert logits[1] <= logits[0] // 4 + tokens * 8 * 3
    kept = [next(row for row in report.rows if row.path == "head").parts["activations"] for report in (whole, chunks)]
    assert kept[1] - kept[0] >= tokens * 8  # the order of rows


# DeepSpeed


def test_deepspeed_sums_gradients_in_a_bucket_and_updates_flat_ones() -> None:
    """reduce_bucket_size is 5e8 elements; a step needs a GPU's part of gradients twice, in 16 bits and in fp32."""
    model = load("qwen2.5-1.5b")
    report = model.memory(mode="train", dp=8, zero=2, batch=1, seq=16, overhead=0)
    part = model.params().total // 8
    backward, step = (
        max(one.parts["temporary"] for one in report.instants if one.phase == phase) for phase in ("backward", "step")
    )
    assert backward >= 2 * 500_000_000
    assert step == pytest.approx((2 + 4) * part, rel=1e-3)
    assert report.states["weights"] == 2 * model.params().total
    assert report.states["gradients"] == pytest.approx(2 * part, rel=1e-3)


def test_accelerate_sums_gradients_of_shards_in_16_bits() -> None:
    """torchtitan sums them in fp32."""
    assert (recipe("accelerate").reduced, recipe("fsdp2").reduced) == ("bf16", "")


def test_a_code_that_trains_another_s_layers_has_its_own_recipe() -> None:
    """axolotl casts embeddings, norms and head back: 2 bytes each, beside adapters in fp32."""
    here, there = (llama(lora=8, weights="nf4", code=name) for name in ("transformers", "axolotl"))
    table_head_and_norms = 2 * 1000 * 256 + 5 * 256
    found = [memory.at(1, 16).states["weights"] for memory in (here, there)]
    assert found[0] - found[1] == (4 - 2) * table_head_and_norms
    assert dict(there.deployment.run.code.layers)["core"] == "pytorch" and there.deployment.run.recompute == "block"
