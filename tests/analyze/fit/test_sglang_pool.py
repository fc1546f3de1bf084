"""SGLang's pools, against what its start-up logs print and what its configurators compute."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import load
from archcalc.analyze.fit.kv_pool import KvPool, kv_pool
from archcalc.analyze.fit.request import request_of
from archcalc.run.device import device
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options

if TYPE_CHECKING:
    from conftest import Run

GIB = 2**30


def pool(model: str, gpu: str, seq: int = 8192, engine: str = "sglang", **options: Any) -> KvPool:
    facts = DeviceFacts.of(device(gpu)[1])
    asked = replace(Options.of("fit", {"seq": seq, "engine": engine, **options}), device=facts)
    return kv_pool(request_of(load(model), asked), seq, facts.memory)


@pytest.mark.parametrize(
    ("model", "gpu", "options", "gib", "tokens"),
    [  # start-up logs of 80 GB cards, of January 2025 and August 2026
        ("llama-3.1-8b", "a100-80gb", {"engine": "sglang@0.4.1"}, 54.26, 444_500),
        ("qwen3-30b-a3b", "h100", {"weights": "fp8"}, 35.98, 392_920),
    ],
)
def test_what_sglang_prints(model: str, gpu: str, options: dict[str, Any], gib: float, tokens: int) -> None:
    found = pool(model, gpu, **options)
    assert found.room / GIB == pytest.approx(gib, rel=0.02)
    assert found.tokens == pytest.approx(tokens, rel=0.02)


def test_the_fraction_is_applied_once() -> None:
    """0.7 of what is free before loading, less the weights."""
    found = pool("llama-3.1-8b", "h100", gpu_memory_utilization=0.7)
    free = device("h100")[1].capacity - GIB // 2
    assert found.room == pytest.approx(0.7 * free - 2 * 8_030_261_248, abs=2)


def test_windowed_layers_have_a_pool_of_their_own() -> None:
    """gpt-oss: full = budget / (full bytes + 0.8 · windowed bytes), half of 24 layers each, 8 heads of 64."""
    found, each = pool("gpt-oss-20b", "h100", seq=65_536), 12 * 2 * 8 * 64 * 2
    assert found.tokens == pytest.approx(found.room / (each + 0.8 * each), rel=0.001)


def test_windowed_layers_of_other_models_are_cached_in_full() -> None:
    """Gemma 3 is not in is_hybrid_swa_model: all of its 26 layers keep a head of 256 for every token."""
    assert pool("gemma-3-1b", "rtx-3090").bytes_per_token == 26 * 2 * 256 * 2


def test_recurrent_states_and_keys_are_nine_to_ten() -> None:
    """Qwen3-Next: 12 of 48 layers with 2 heads of 256 get 1 / 1.9 of the budget. A request takes 3 states, each
    of 36 layers with 32 matrices of 128 × 128 in fp32 and 3 positions of 8,192 channels in bf16."""
    found, state = pool("qwen3-next-80b-a3b", "b300"), 36 * (32 * 128 * 128 * 4 + 3 * 8192 * 2)
    assert found.tokens == pytest.approx(found.room / 1.9 / (12 * 2 * 2 * 256 * 2), rel=0.001)
    assert pool("qwen3-next-80b-a3b", "b300", seq=64).max_requests == int(found.room * 0.9 / 1.9 / state) // 3


def test_a_latent_cache_is_whole_on_every_gpu() -> None:
    assert pool("deepseek-v3", "b200", tp=8).bytes_per_token == 61 * 576 * 2


def test_a_table_of_requests_has_to_fit_beside_the_pool(run: Run) -> None:
    """4 bytes for each position of each request, outside of the cache: 4,000 of 131,072 more are 1.95 GiB."""
    asked = ("memory", "llama-3.1-8b", "--engine", "sglang", "--seq", "131072", "--format", "json", "--max-num-seqs")
    few, many = (run(*asked, number).json["parts"]["activations"] for number in ("96", "4096"))
    assert many - few == 4 * 4000 * 131_072
