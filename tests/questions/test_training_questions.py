"""Sizing questions that people asked in public, about training: one natural command each, and what they measured.

The number of a question is the thread (repository#number) that it was asked in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30


def memory(run: Run, model: str, arguments: str) -> dict[str, Any]:
    answered = run("memory", model, "--mode", "train", *arguments.split(), "--format", "json")
    assert answered.code == 0, answered.err
    return dict(answered.json)


def fit(run: Run, model: str, arguments: str) -> dict[str, Any]:
    answered = run("fit", model, "--mode", "train", *arguments.split(), "--format", "json")
    assert answered.code == 0, answered.err
    return dict(answered.json)


@pytest.mark.parametrize(("optimizer", "gb"), [("adamw-fused", 54.0), ("adam8bit", 40.5)])
def test_all_of_llama_2_7b_on_one_gpu(run: Run, optimizer: str, gb: float) -> None:
    """torchtune#389."""
    asked = f"--precision bf16 --code torchtune --recompute full --batch 2 --seq 512 --optimizer {optimizer}"
    assert memory(run, "llama-2-7b", asked)["allocated_bytes"] / 10**9 == pytest.approx(gb, rel=0.05)


@pytest.mark.parametrize(
    ("plan", "batch", "gib"), [("", 4, 65.0), ("--dp 2 --zero 3", 2, 36.3)], ids=["one GPU", "two GPUs"]
)
def test_qlora_of_llama_2_70b(run: Run, plan: str, batch: int, gib: float) -> None:
    """fms-acceleration#12: the second with FSDP, between what tensors take and what the allocator reserves."""
    asked = f"--precision bf16 --lora 16 --weights nf4 --recompute full --batch {batch} --seq 4096 {plan}"
    found = memory(run, "llama-2-70b", asked)
    assert found["allocated_bytes"] / GIB < 1.02 * gib < 1.02 * found["required_bytes"] / GIB


def test_qlora_of_70b_on_two_cards_of_24_gb(run: Run) -> None:
    """axolotl#1428, fsdp_qlora: not by itself; with parameters in host memory it is trained so."""
    asked = "--precision bf16 --lora 16 --weights nf4 --recompute full --seq 512 --gpu 2x24GB"
    assert fit(run, "llama-2-70b", f"{asked} --offload params")["rows"][0]["verdict"] == "fits"


def test_lora_of_8b_at_8k_on_an_a100(run: Run) -> None:
    """torchtune#979: comfortably."""
    asked = "--code torchtune --precision bf16 --lora 16 --seq 8192 --recompute full --gpu a100-80gb"
    assert fit(run, "llama-3-8b", asked)["rows"][0]["verdict"] == "fits"


@pytest.mark.wide
def test_all_of_qwen_32b_on_sixteen_h100(run: Run) -> None:
    """s1#25: it was trained so, at 20,000 tokens."""
    asked = "--precision bf16 --recompute full --seq 20k --gpu 16xh100"
    assert fit(run, "qwen2.5-32b", asked)["rows"][0]["left_bytes"] > 0


@pytest.mark.wide
def test_how_many_a100_for_all_of_70b(run: Run) -> None:
    """llama#389: roughly 16."""
    asked = "--precision bf16 --recompute full --seq 2048 --gpu a100-80gb"
    assert 8 <= fit(run, "llama-2-70b", asked)["rows"][0]["gpus_needed"] <= 16


def test_host_memory_of_zero_offload(run: Run) -> None:
    """DeepSpeed#4867 and others: 346 GB for 15 billion parameters, which are 23 bytes for each. It is not said whether
    parameters are in host memory too; without its rounding of pinned blocks, they would be 18 or 20."""
    asked = "--precision mixed --dp 8 --zero 3 --recompute full --seq 2048 --offload"
    parameters = 14_770_033_664
    here, there = (memory(run, "qwen2.5-14b", f"{asked} {parts}") for parts in ("optimizer", "optimizer,params"))
    assert 18 * parameters < here["host_bytes"] < 346 / 15 * parameters < there["host_bytes"] < 26 * parameters


def test_block_inputs_of_a_long_context(run: Run) -> None:
    """transformers#48444: 36 GiB of block inputs at 131,072 tokens, which can go to host memory."""
    asked = "--precision bf16 --recompute full --seq 131072"
    here, offloaded = (memory(run, "qwen3-8b", f"{asked} {more}") for more in ("", "--offload activations"))
    kept = 36 * 131072 * 4096 * 2
    assert offloaded["host_bytes"] == pytest.approx(kept, rel=0.06)
    assert here["total_bytes"] - offloaded["total_bytes"] > 0.8 * kept


@pytest.mark.parametrize("method", ["dpo", "grpo"])
def test_preferences_take_more_than_supervision(run: Run, method: str) -> None:
    """LLaMA-Factory#798, trl#5200: a reference model, or generated sequences, beside the policy."""
    asked = "--precision bf16 --recompute full --seq 2048"
    plain = memory(run, "qwen2.5-7b", asked)["required_bytes"]
    more = "--reference same" if method == "grpo" else ""
    assert memory(run, "qwen2.5-7b", f"{asked} --method {method} {more}")["required_bytes"] > plain


def test_the_batch_of_vit_l_on_16_gb(run: Run) -> None:
    """RobustVLM#18: in fp32, as its files and its Trainer have it; twice as many in mixed precision."""
    wide, narrow = (fit(run, "vit-l-16", f"--batch 256 --gpu rtx-4080 {more}") for more in ("", "--precision mixed"))
    assert 20 < wide["rows"][0]["max_batch"] < narrow["rows"][0]["max_batch"] < 3 * wide["rows"][0]["max_batch"]
    assert wide["run"]["choices"]["precision"]["reason"] == "model"


def test_checkpointing_halves_memory_at_least(run: Run) -> None:
    """MAR#7: 62 to 32 GB, and more where activations are most of it."""
    plain, recomputed = (memory(run, "vit-l-16", f"--batch 256 {more}")["required_bytes"] for more in ("", RECOMPUTED))
    assert recomputed < plain / 2


RECOMPUTED = "--recompute full"


def test_how_8b_is_trained_on_4090s(run: Run) -> None:
    """Fewer cards with checkpointing, and on a single one with adapters over narrow weights."""
    found = fit(run, "llama-3-8b", "--seq 2048 --gpu 4090")
    options = [one["option"] for one in found["remedies"]]
    assert any("--recompute full" in one for one in options) and any("--lora" in one for one in options)
