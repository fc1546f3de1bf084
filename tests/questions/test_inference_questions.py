"""Sizing questions that people asked in public, about inference: one natural command each, and what they measured.

The number of a question is the thread (repository#number) that it was asked in.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

GIB = 2**30
QWEN_1_5_7B_GPTQ: dict[str, Any] = {  # as published, with its quantization_config
    "architectures": ["Qwen2ForCausalLM"],
    "model_type": "qwen2",
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 32,
    "vocab_size": 151936,
    "max_position_embeddings": 32768,
    "tie_word_embeddings": False,
    "torch_dtype": "float16",
    "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": True},
}


def row(run: Run, *arguments: str) -> dict[str, Any]:
    """The one device that was asked about."""
    answered = run("fit", *arguments, "--format", "json")
    assert answered.code == 0, answered.err
    (found,) = answered.json["rows"]
    return dict(found)


def parts(run: Run, *arguments: str) -> dict[str, Any]:
    return dict(run("memory", *arguments, "--format", "json").json["parts"])


def test_a_context_of_a_7b_model_in_four_bits_on_a_3090(run: Run, tmp_path: Path) -> None:
    """Qwen3#16: vLLM of early 2024, started for the model's 32,768 tokens, had room for 24,320."""
    (tmp_path / "config.json").write_text(json.dumps(QWEN_1_5_7B_GPTQ), encoding="utf-8")
    asked = (str(tmp_path / "config.json"), "--engine", "vllm@0.3", "--seq", "32768", "--gpu", "3090")
    found = row(run, *asked)
    assert found["kv_pool_tokens"] == pytest.approx(24_320, rel=0.1)
    assert found["left_bytes"] < 0


@pytest.mark.parametrize(("seq", "verdict", "tokens"), [(20_000, True, 31_232), (29_000, False, 23_648)])
def test_why_does_a_context_of_29000_fail_on_a_3090(run: Run, seq: int, verdict: bool, tokens: int) -> None:
    """vllm#10517: 20,000 fit; the limit is about 26,000."""
    found = row(run, "Llama-3.1-8B", "--engine", "vllm@0.6", "--seq", str(seq), "--gpu", "3090")
    assert (found["max_requests"] > 0) is verdict
    assert found["kv_pool_tokens"] == pytest.approx(tokens, rel=0.1)
    assert found["max_context"] == pytest.approx(26_000, rel=0.05)


def test_gpt_oss_120b_at_its_full_length_on_one_h100(run: Run) -> None:
    """vllm#27508: 64.38 GiB of weights in Hopper's layout, and 131,072 tokens do not start."""
    asked = ("gpt-oss-120b", "--engine", "vllm", "--gpu", "h100", "--seq", "131072")
    report = run("fit", *asked, "--format", "json").json
    assert report["parts"]["weights"] / GIB == pytest.approx(64.38, rel=0.01)
    assert report["rows"][0]["verdict"] == "does not fit" and report["rows"][0]["left_bytes"] < 0


def test_the_cache_of_qwen3_235b_over_four_h100(run: Run) -> None:
    """vllm#21348: 178,880 tokens are 8.11 GiB on each of four GPUs, of which vLLM prints the room of one."""
    found = row(run, "qwen3-235b-a22b", "--weights", "fp8", "--tp", "4", "--engine", "vllm", "--gpu", "h100")
    assert 178_880 * found["bytes_per_token"] / GIB == pytest.approx(8.11, rel=0.015)


@pytest.mark.parametrize(("gpu", "verdict"), [("h20", "tight"), ("rtx-a6000", "does not fit")])
def test_deepseek_v3_on_eight_gpus(run: Run, gpu: str, verdict: str) -> None:
    """lmdeploy#2960 runs with 83 GB or more on each H20; DeepSeek-V3#855 runs out of memory on eight A6000. The layer
    that predicts further tokens is not loaded."""
    found = row(run, "deepseek-v3", "--tp", "8", "--gpu", gpu)
    assert found["verdict"] == verdict and (found["left_bytes"] > 0) is (gpu == "h20")
    assert found["required_bytes"] > 83 * 10**9


@pytest.mark.parametrize(
    ("model", "context", "gib"),
    [("llama-3.1-8b", 128_000, 15.62), ("llama-3.1-70b", 128_000, 39.06)],
)
def test_the_cache_of_llama_3_1_at_128k(run: Run, model: str, context: int, gib: float) -> None:
    """blog#2345, a table of Hugging Face."""
    asked = (model, "--mode", "decode", "--context", str(context - 1))
    assert parts(run, *asked)["kv_cache"] / GIB == pytest.approx(gib, rel=0.005)


def test_a_token_of_qwen3_coder_30b(run: Run) -> None:
    """NoLlama#21: about 96 KB; its shapes are those of Qwen3 30B-A3B."""
    assert row(run, "qwen3-30b-a3b", "--engine", "vllm", "--gpu", "h100")["bytes_per_token"] == 48 * 2 * 4 * 128 * 2


def test_why_a_small_model_takes_all_of_a_card(run: Run) -> None:
    """Qwen3#1509: the weights of 4B in four bits are a few GB, and vLLM's pool fills its share of the device."""
    found = row(run, "qwen3-4b", "--weights", "int4", "--engine", "vllm@0.8.4", "--gpu", "24GB")
    assert found["required_bytes"] < 7 * 10**9
    assert found["kv_pool_bytes"] + found["required_bytes"] > 0.7 * found["capacity_bytes"]


@pytest.mark.wide
def test_gemma_3_27b_at_20k_with_a_narrow_cache_on_a_4090(run: Run) -> None:
    """ollama#9678: it runs, with a cache of full length of 4.7 GiB; the vision tower is not counted."""
    asked = ("gemma-3-27b", "--weights", "q4_k_m", "--kv-dtype", "q8_0", "--kv-rule", "full", "--context", "20k")
    report = run("fit", *asked, "--engine", "ollama", "--gpu", "4090", "--format", "json").json
    assert report["rows"][0]["verdict"] == "cannot say" and report["rows"][0]["left_bytes"] > 0
    assert report["parts"]["kv_cache"] / GIB == pytest.approx(4.9, rel=0.05)


@pytest.mark.parametrize(("model", "verdict"), [("qwen3-30b-a3b", "tight"), ("gemma-3-27b", "fits")])
def test_four_bits_on_a_mac_of_24_gb(run: Run, model: str, verdict: str) -> None:
    """llmfit#812: both run on the GPU of an M4 Pro, with a context of 4,096; Gemma without its file for images."""
    asked = ("--weights", "q4_k_m", "--seq", "4096", "--engine", "llama.cpp", "--gpu", "m4 pro 24gb")
    assert row(run, model, *asked)["verdict"] == verdict


def test_which_format_of_70b_at_which_context_on_two_3090(run: Run) -> None:
    """Six pages print this table."""
    asked = ("llama-3.1-70b", "--gpu", "2x3090", "--table", "weights,context", "--format", "json")
    report = run("fit", *asked).json
    left = {one["weights"]: one["left_bytes"] for one in report["rows"] if one["context"] == 8192}
    assert left["q3_k_m"] > left["q4_k_m"] > 0 > left["q5_k_m"]


def test_whisper_takes_about_4_gb(run: Run) -> None:
    """Style-Bert-VITS2#65: 4 GB with faster-whisper."""
    total = run("memory", "whisper-large-v3", "--precision", "fp16", "--format", "json").json["total_bytes"]
    assert total == pytest.approx(4 * 10**9, rel=0.05)


def test_a_draft_model_beside_its_target(run: Run) -> None:
    """vllm#14067."""
    asked = ("--engine", "vllm", "--tp", "4", "--gpu", "h100", "--seq", "8k")
    alone, beside = row(run, "llama-3-70b", *asked), row(run, "llama-3-70b", "--draft", "llama-3.2-1b", *asked)
    assert beside["kv_pool_tokens"] < alone["kv_pool_tokens"]


def test_experts_in_host_memory(run: Run) -> None:
    """ollama#11772, ktransformers#1417: a few GB are left on the GPU, and nearly all weights are in host memory."""
    asked = ("qwen3-30b-a3b", "--weights", "q4_k_m", "--cpu-moe", "--engine", "llama.cpp", "--seq", "4096")
    report = run("memory", *asked, "--format", "json").json
    assert 1.5 * 10**9 < report["total_bytes"] < 2.9 * 10**9
    assert report["host_bytes"] == pytest.approx(17.7 * 10**9, rel=0.02)


def test_sixteen_adapters_on_an_h100(run: Run) -> None:
    """vllm#17003."""
    asked = ("--adapters", "16", "--lora", "16", "--engine", "vllm", "--gpu", "h100")
    assert row(run, "llama-3.1-8b", *asked)["fits"]


@pytest.mark.wide
def test_what_runs_on_my_mac(run: Run) -> None:
    """omlx#1483: a list of models with their format and context."""
    report = run("fit", "--gpu", "m3-ultra-256gb", "--models", "--format", "json").json
    formats = {one["model"]: one["weights"] for one in report["rows"]}
    assert formats["llama-3.1-8b"] == "bf16" and formats["llama-3.1-70b"] == "bf16"
    assert formats["llama-3.1-405b"] in ("q4_k_m", "q3_k_m", "q2_k")
