"""What engines print when they start, as their logs have it."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import fit, load
from archcalc.core.errors import InputError
from archcalc.run.engine.rules import EngineRules
from archcalc.spec.reading import read_node

WEIGHTS = 16_060_522_496  # Llama 3 8B in bf16: 8,030,261,248 parameters of two bytes


def printed(gpu: str, **options: Any) -> tuple[str, ...]:
    return fit(load("llama-3-8b"), gpus=[gpu], **options).rows[0].startup


def test_vllm_prints_weights_pool_tokens_and_concurrency() -> None:
    weights, pool, tokens, concurrency = printed("rtx-4090", engine="vllm@0.27")
    assert weights == f"Model loading took {WEIGHTS / 2**30:.2f} GiB" == "Model loading took 14.96 GiB"
    gib = float(pool.removeprefix("Available KV cache memory: ").removesuffix(" GiB"))
    # a token of all layers: keys and values of 8 heads of 128, two bytes each
    assert _number(tokens) == pytest.approx(gib * 2**30 / (2 * 32 * 8 * 128 * 2), rel=1e-3)
    assert concurrency.endswith(f"{_number(tokens) / 2048:.2f}x")


def test_vllm_prints_tokens_and_concurrency_in_one_line_since_0_28() -> None:
    *_, said = printed("rtx-4090", engine="vllm")
    tokens, _, concurrency = said.partition(" tokens, Maximum concurrency for 2,048 tokens per request: ")
    assert concurrency == f"{_number(tokens) / 2048:.2f}x"


def _number(line: str) -> int:
    return int(line.removeprefix("GPU KV cache size: ").removesuffix(" tokens").replace(",", ""))


def test_sglang_prints_keys_and_values_apart() -> None:
    """Each half of 2 · 32 layers · 8 heads · 128 · 2 bytes a token; of latent attention it prints one size."""
    _, halves, total = printed("h100", engine="sglang")
    tokens = int(total.removeprefix("max_total_num_tokens="))
    gib = tokens * 32 * 8 * 128 * 2 / 2**30
    assert halves == f"KV Cache is allocated … #tokens: {tokens}, K size: {gib:.2f} GB, V size: {gib:.2f} GB"
    latent = fit(load("deepseek-v2-lite"), gpus=["h100"], engine="sglang").rows[0].startup
    assert not any("V size" in line for line in latent)


def test_llama_cpp_prints_its_buffers_and_no_states_where_there_are_none() -> None:
    model, cache, _ = printed("rtx-4090", weights="q4_k_m")
    assert model.startswith("model buffer size = 4403.49")  # of the same file in logs of llama.cpp
    assert cache == f"KV buffer size = {2 * 32 * 8 * 128 * 2 * 2048 / 2**20:.2f} MiB"


def test_a_pool_without_room_prints_weights_alone() -> None:
    assert printed("rtx-4060", engine="vllm") == ("Model loading took 14.96 GiB",)


def test_plain_pytorch_prints_nothing() -> None:
    assert printed("rtx-4090", engine="plain") == ()


def test_a_line_with_an_unknown_figure_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InputError, match="no figure is called layers"):
        read_node(EngineRules, {"name": "own", "source": "a test", "prints": ["{layers} layers"]})
