"""benchmarks/accuracy.py: what it says of a few measured figures, and that it can say no."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "accuracy.py"

LLAMA_3_8B = {
    "layers": 32,
    "hidden": 4096,
    "heads": 32,
    "kv_heads": 8,
    "head_dim": 128,
    "ffn": 14336,
    "vocab": 128256,
    "tie": False,
    "mlp": "swiglu",
    "params": 8_030_261_248,
}
LLAMA_2_7B = {**LLAMA_3_8B, "kv_heads": 32, "ffn": 11008, "vocab": 32000, "params": 6_738_415_616}


def case(name: str, kind: str, arch: dict[str, Any], measured: dict[str, Any], **more: Any) -> dict[str, Any]:
    """One case, laid out as the script reads it."""
    fields = {"id": name, "kind": kind, "model": name, "arch": arch, "measured": measured}
    return {**fields, "trust": "A", "flags": {}, "parallelism": {}, **more}


GEMMA_3_27B = {
    "layers": 62,
    "hidden": 5376,
    "heads": 32,
    "kv_heads": 16,
    "head_dim": 128,
    "ffn": 21504,
    "vocab": 262208,
}
HYBRID = [  # start-up logs of vLLM with Gemma 3 27B, in public repositories
    ("v0.11.0", 4096, "auto", 109.86, 205_696),  # padding, and every layer with every token
    ("v0.26.0", 65_536, "fp8", 10.56, 188_347),  # windows, and two batches of 2,048 in flight
    ("", 131_072, "auto", 35.31, 66_112),  # by its whole blocks an old one
]

CASES = [
    case("llama-3-8b", "param_count", LLAMA_3_8B, {"params": 8_030_261_248}),
    # a start-up log of vLLM 0.19 on an H100, github.com/llm-d-incubation/llm-d-planner, pull request 205
    case(
        "vllm-8b",
        "vllm_startup",
        LLAMA_3_8B,
        {"weights_gib_per_gpu": 14.99, "available_kv_gib": 58.11, "kv_cache_tokens": 476_016},
        dtype="bfloat16",
        seq=8192,
        gpu="H100",
    ),
    # llama.cpp with a LLaMA v2 7B in F16
    case("llamacpp-7b", "llamacpp_load_log", LLAMA_2_7B, {"kv_cache_mib": 1024.0}, seq=2048),
    # NeMo 24.07 on 8 H100, docs.nvidia.com
    case(
        "nemo-8b",
        "train_throughput",
        LLAMA_3_8B,
        {"tokens_per_s_per_gpu": 12_036, "model_tflops": 697},
        seq=8192,
    ),
]


def ran(folder: Path, cases: list[dict[str, Any]], *options: str) -> subprocess.CompletedProcess[str]:
    """The script, as a user runs it."""
    file = folder / "cases.json"
    file.write_text(json.dumps(cases), encoding="utf-8")
    return subprocess.run([sys.executable, SCRIPT, file, *options], capture_output=True, text=True, check=False)


@pytest.mark.wide
def test_measured_figures_are_met(tmp_path: Path) -> None:
    """Every class within what is promised of it, those of the second set too."""
    done = ran(tmp_path, CASES)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| ") and "| 0 |" not in line.split("%")[0]]
    assert "| parameters | 1 | 0 | 0 | exact ✓ |" in done.stdout
    assert "| KV cache, llama.cpp | 1 | 0 | 0 | exact ✓ |" in done.stdout
    assert sum("✓" in line for line in lines) >= 3
    assert "| second set: KV cache and state, llama.cpp | 18 | 0 | 0 | exact ✓ |" in done.stdout


@pytest.mark.parametrize("log", HYBRID)
def test_tokens_are_counted_as_the_version_does(tmp_path: Path, log: tuple[str, int, str, float, int]) -> None:
    assert ran(tmp_path, [hybrid(*log)], "--alone").returncode == 0


def test_tokens_of_another_version_are_far_off(tmp_path: Path) -> None:
    """0.20.0 would have printed 10.56 · 2³⁰ / (70 · 2 · 16 · 128) = 39,546 tokens and not 188,347."""
    done = ran(tmp_path, [hybrid("v0.20.0", *HYBRID[1][1:])], "--alone")
    assert done.returncode == 1
    assert "(+376.27%)" in done.stdout


def hybrid(engine: str, length: int, dtype: str, gib: float, tokens: int) -> dict[str, Any]:
    measured = {"available_kv_gib": gib, "kv_cache_tokens": tokens}
    flags = {"engine": engine, "max_num_batched_tokens": 2048}
    named = case("google/gemma-3-27b-it", "vllm_startup", GEMMA_3_27B, measured, seq=length, kv_cache_dtype=dtype)
    return {**named, "flags": flags}


def test_a_wrong_figure_is_noticed(tmp_path: Path) -> None:
    """A layer too many in the architecture: the class misses its target, and the case is named."""
    wrong = {**CASES[2], "arch": {**LLAMA_2_7B, "layers": 33}}
    done = ran(tmp_path, [wrong], "--alone")
    assert done.returncode == 1
    assert "KV cache, llama.cpp misses its target:" in done.stdout
    assert "llamacpp-7b" in done.stdout and "(+3.12%)" in done.stdout


def test_what_cannot_be_expressed_is_said(tmp_path: Path) -> None:
    """With the reason, and it is not counted as met."""
    done = ran(tmp_path, [{**CASES[1], "parallelism": {"tp": 1, "pp": 2}}], "--alone")
    assert "1 × pipeline parallelism" in done.stdout
    assert "| KV cache per token, vLLM on CUDA | 0 |" in done.stdout
