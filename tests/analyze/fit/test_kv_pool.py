"""The KV pool of serving engines, against what vLLM's start-up logs print."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archcalc import InputError, fit, load
from archcalc.analyze.fit.kv_pool import KvPool, kv_pool
from archcalc.analyze.fit.request import request_of
from archcalc.archs import transformer
from archcalc.core.ir import Module
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options
from archcalc.spec.workload import Workload

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"

GIB = 2**30
T4 = DeviceFacts("NVIDIA T4", int(14.57 * GIB), "turing", "NVIDIA")
H100, H200, RTX_3090 = (
    DeviceFacts("NVIDIA H100 80GB", int(79.19 * GIB), "hopper", link="NVLink 4"),
    DeviceFacts("NVIDIA H200", int(139.8 * GIB), "hopper", link="NVLink 4"),
    DeviceFacts("NVIDIA GeForce RTX 3090", int(23.58 * GIB), "ampere"),
)


def pool(model: str, device: DeviceFacts, seq: int = 8192, **options: Any) -> KvPool:
    asked = replace(Options.of("fit", {"seq": seq, **options}), device=device)
    return kv_pool(request_of(load(model), asked), seq, device.memory)


@pytest.mark.parametrize(
    ("model", "device", "options", "gib", "tokens"),
    [  # start-up logs: llm-d-planner's of 0.19 on H100, others of 0.11 and 0.16 on H200
        ("codellama-7b", H100, {"engine": "vllm@0.19", "gpu_memory_utilization": 0.95}, 61.66, 126_256),
        ("llama-3.1-8b", H100, {"engine": "vllm@0.19", "gpu_memory_utilization": 0.95}, 58.11, 476_016),
        ("llama-3.1-8b", H100, {"engine": "vllm@0.19", "gpu_memory_utilization": 0.95, "tp": 2}, 63.76, 1_044_688),
        ("gemma-2-27b", H100, {"engine": "vllm@0.19", "gpu_memory_utilization": 0.95}, 20.59, 58_672),
        ("mixtral-8x7b", H100, {"engine": "vllm@0.19", "gpu_memory_utilization": 0.95, "tp": 2}, 28.44, 465_936),
        ("gpt-oss-20b", H100, {"engine": "vllm@0.19", "tp": 2}, 59.32, 2_591_776),
        ("llama-3.3-70b", H200, {"engine": "vllm@0.11.2", "gpu_memory_utilization": 0.92, "tp": 4}, 90.23, 1_182_608),
        ("deepseek-r1", H200, {"engine": "vllm@0.16", "gpu_memory_utilization": 0.92, "tp": 8}, 43.08, 658_176),
    ],
)
def test_what_vllm_prints(model: str, device: DeviceFacts, options: dict[str, Any], gib: float, tokens: int) -> None:
    found = pool(model, device, **options)
    assert found.room / GIB == pytest.approx(gib, rel=0.02)
    assert found.tokens == pytest.approx(tokens, rel=0.02)


@pytest.mark.parametrize(
    ("device", "options", "gib"),
    [  # start-up logs off the H100: a Kaggle notebook, RTX 3090 over PCIe, A100 with FlashInfer's sampler
        (T4, {"engine": "vllm@0.22.1", "precision": "fp16", "max_num_batched_tokens": 4096, "max_num_seqs": 1}, 4.22),
        (T4, {"engine": "vllm@0.22.1", "precision": "fp16", "max_num_batched_tokens": 2048, "max_num_seqs": 1}, 4.37),
    ],
)
def test_two_cards_over_pcie(device: DeviceFacts, options: dict[str, Any], gib: float) -> None:
    options = {**options, "gpu_memory_utilization": 0.85, "enforce_eager": True, "tp": 2}
    assert pool("qwen3-8b", device, seq=4096, **options).room / GIB == pytest.approx(gib, rel=0.02)


@pytest.mark.parametrize(
    ("model", "seq", "engine", "tokens", "concurrency"),
    [  # logs of 0.12 and 0.13: blocks // groups × block size, which is no more than half of what the pool holds
        ("gpt-oss-20b", 16_384, "vllm@0.12", 155_584, 16.75),
        ("gpt-oss-20b", 32_768, "vllm@0.12", 155_584, 19.2 * 7.12 / 15.37),
    ],
)
def test_the_tokens_that_a_version_prints(model: str, seq: int, engine: str, tokens: int, concurrency: float) -> None:
    """An RTX 3090 with 7.12 GiB for keys and values; the concurrency of the second from an RTX 5090 with 15.37."""
    found = pool(model, RTX_3090, seq=seq, engine=engine, max_num_batched_tokens=2048, max_num_seqs=32)
    scale = found.room / GIB / 7.12
    assert found.tokens == pytest.approx(scale * tokens, rel=0.002)
    assert found.concurrency == pytest.approx(scale * concurrency, rel=0.005)
    newer = pool(model, RTX_3090, seq=seq, engine="vllm@0.21", max_num_batched_tokens=2048, max_num_seqs=32)
    assert newer.tokens == pytest.approx(newer.concurrency * seq, rel=0.001)  # since 0.20.1


def test_the_first_engine_reads_long_prompts_in_pieces() -> None:
    """Chunked prefill is its default above 32,768 tokens: a longer prompt then takes less than a shorter one."""
    whole, pieces = (pool("llama-3.1-8b", H100, seq=seq, engine="vllm@0.6") for seq in (32_768, 32_769))
    assert pieces.room - whole.room > GIB


def test_a_prompt_that_is_computed_at_once_leaves_less_to_the_cache() -> None:
    """vllm issue 10517, an RTX 3090: 3.81 GiB are left for a context of 20,000, 2.89 for 29,000, which is refused."""
    short, long = (pool("llama-3.1-8b", RTX_3090, seq=seq, engine="vllm@0.6") for seq in (20_000, 29_000))
    assert [short.room / GIB, long.room / GIB] == pytest.approx([3.81, 2.89], rel=0.05)
    assert (short.max_requests, long.max_requests) == (1, 0)
    assert short.max_context == long.max_context == pytest.approx(26_000, rel=0.05)


def test_a_model_is_traced_for_the_steps_that_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt, a full step of such prompts, and one of the longest: caches of any size follow from the first. Last,
    for the smallest card, a step of llama.cpp."""
    built, build = list[tuple[int, int]](), transformer.build

    def counted(model: Any, work: Workload) -> Module:
        built.append((work.batch, work.lengths["seq"]))
        return build(model, work)

    monkeypatch.setattr(transformer, "build", counted)
    (row,) = fit(load("llama-3-8b"), gpus=["h100"]).rows
    assert row.pool and built == [(1, 2048), (4, 2048), (1, 8192), (1, 512)]


def test_requests_and_context_are_what_the_pool_holds() -> None:
    found = pool("llama-3.1-8b", H100, engine="vllm")
    assert found.request_bytes == 8192 * found.bytes_per_token == 8192 * 2 * 32 * 8 * 128 * 2
    assert found.max_requests == found.room // found.request_bytes
    assert found.max_context == 131_072


def test_nothing_is_left_where_the_weights_do_not_fit() -> None:
    found = pool("llama-3-70b", RTX_3090, engine="vllm")
    assert found.room < 0 and (found.tokens, found.max_requests, found.max_context) == (0, 0, 0)


def test_an_encoder_of_images_takes_of_the_pool() -> None:
    """profile_run of vLLM: the encoder is loaded, and run on as many of the largest images as a step holds. Without it
    nothing of that is counted, so that no band is given."""
    vision_language = load(str(EXAMPLES / "qwen3-vl-2b" / "config.json"))
    reports = [fit(model, gpus=["h100"], engine="vllm") for model in (vision_language, vision_language.part("text"))]
    (whole,), (text,) = (report.rows for report in reports)
    towers = vision_language.params().total - vision_language.part("text").params().total
    assert whole.pool and text.pool and whole.pool.room < text.pool.room - 2 * int(towers)
    assert whole.pool_band and text.pool_band is None
    said = " ".join(str(one) for one in reports[1].assumptions)
    assert "vLLM loads the vision too" in said and "vLLM loads the merger too" in said


def test_an_encoder_has_no_pool() -> None:
    report = fit(load("bert-base"), gpus=["h100"], engine="vllm")
    assert report.rows[0].pool is None and "KV pool" not in str(report)


def test_an_engine_runs_on_its_makers_devices_alone() -> None:
    with pytest.raises(InputError, match="MLX runs on devices of Apple, not on those of NVIDIA"):
        fit(load("gpt2"), gpus=["h100"], engine="mlx")


@pytest.mark.parametrize("engine", ["sglang", "tensorrt-llm"])
def test_other_engines_leave_less_for_activations_or_more(engine: str) -> None:
    """On an H100 SGLang takes 0.829 of what is free before loading, TensorRT-LLM 0.9 of what is free behind it."""
    found, weights = pool("llama-3.1-8b", H100, engine=engine), 2 * 8_030_261_248
    room = {"sglang": 0.829 * (H100.memory - GIB // 2) - weights, "tensorrt-llm": 0.9 * (H100.memory - weights)}
    assert found.room == pytest.approx(room[engine], rel=0.1)


def test_lmdeploy_takes_a_share_of_what_weights_leave() -> None:
    """cache_max_entry_count is 0.8, of what is free behind weights; Qwen3-8B takes 9 MiB for a block of 64 tokens."""
    found, free = pool("qwen3-8b", RTX_3090, engine="lmdeploy"), RTX_3090.memory - GIB // 2 - 2 * 8_190_735_360
    assert found.room == pytest.approx(0.8 * free, abs=2)
    assert 64 * found.bytes_per_token == 9 * 2**20
