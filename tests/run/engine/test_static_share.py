"""SGLang's mem_fraction_static where it is not given: what logs print, or imply, on many devices and versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from archcalc.run.device import device
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.running import running
from archcalc.run.engine.static_share import prefill_sizes
from archcalc.run.options import Options

MOON_VIT = {"vision_config": {"num_hidden_layers": 27, "hidden_size": 1152}, "text_config": {"kv_lora_rank": 512}}
VIT = {"vision_config": {"depth": 24, "hidden_size": 1024}}


def share(gpu: str, version: str, config: dict[str, Any], **options: Any) -> float:
    facts = DeviceFacts.of(device(gpu)[1])
    asked = replace(Options.of("fit", {"engine": f"sglang@{version}", **options}), device=facts)
    return running(asked, "transformer", config=lambda: config).share


@pytest.mark.parametrize(
    ("gpu", "version", "options", "config", "logged"),
    [
        ("rtx-5080", "0.5.2", {}, {}, 0.817),  # Qwen3-0.6B, implied by the pool
        ("b200", "0.5.9", {}, {}, 0.854),
        ("b300", "0.5.9", {}, {}, 0.906),
        ("mi355x", "0.5.8", {"tp": 8}, {"kv_lora_rank": 512}, 0.908),  # GLM-5, printed
        ("mi355x", "0.5.8", {"tp": 8}, MOON_VIT, 0.826),  # Kimi-K2.5, printed
        ("h100", "0.5.2", {"tp": 8}, {}, 0.831),  # grok-2, printed
        ("h100", "0.5.17", {}, {}, 0.830),  # Qwen3-30B-A3B-FP8
        ("rtx-3090", "0.5.9", {"tp": 2}, VIT, 0.799),  # Qwen3.5-9B
        ("16GB", "0.5.8", {}, {}, 0.772),  # granite-4.0-h
        ("rtx-3090", "0.4.4", {"tp": 4}, {}, 0.850),  # Qwen2.5-32B
        ("a100-80gb", "0.4.1", {}, {}, 0.880),
    ],
)
def test_the_static_fraction_is_that_of_logs(
    gpu: str, version: str, options: dict[str, Any], config: dict[str, Any], logged: float
) -> None:
    assert share(gpu, version, config, **options) == pytest.approx(logged, abs=0.004)


def test_what_is_asked_for_is_the_fraction_itself() -> None:
    assert share("h100", "0.5.18", {}, gpu_memory_utilization=0.7) == 0.7


def test_a_larger_chunk_leaves_less_for_weights_and_cache() -> None:
    """1.5 MiB for each token of a step."""
    small, large = (share("rtx-3090", "0.5.9", {}, prefill=tokens) for tokens in (2048, 4096))
    assert small - large == pytest.approx(1.5 * 2048 / (23.67 * 1024), abs=0.001)


def test_speculative_decoding_takes_a_reserve_until_draft_weights_are_counted() -> None:
    found = [share("h100", version, {}) - share("h100", version, {}, draft="mtp") for version in ("0.5.12", "0.5.14")]
    assert found == pytest.approx([4 / 79.19, 0], abs=0.001)


@pytest.mark.parametrize(("tokens", "sizes"), [(2048, 42), (4096, 50), (8192, 58), (16384, 74)])
def test_sizes_that_prefill_has_graphs_for(tokens: int, sizes: int) -> None:
    """8 up to 32, 14 to 256, 8 to 512, 8 to 1,024, one every 256 up to 4,096, and one every 512 beyond."""
    assert prefill_sizes(tokens) == sizes


def test_cards_of_24_gb_compute_4096_tokens_at_a_time_since_0_5_20() -> None:
    """1.5 MiB for each of 2,048 tokens more, 2 for each of 24 more requests that have a graph, 8 sizes of prefill."""
    before, since = (share("rtx-4090", version, {}) for version in ("0.5.19", "0.5.20"))
    assert before - since == pytest.approx((1.5 * 2048 + 2 * (48 - 24) + 8 * 8) / (23.99 * 1024), abs=0.003)


def test_no_graph_is_captured_for_more_requests_than_run_at_once() -> None:
    """2 MiB for each of the 256 - 16 requests that --max-running-requests leaves out, since 0.5.22."""
    versions = ("0.5.21", "0.5.22")
    kept = [share("h100", version, {}, max_num_seqs=16) - share("h100", version, {}) for version in versions]
    assert kept == pytest.approx([0, 2 * 240 / (79.19 * 1024)], abs=0.001)


def test_intel_devices_have_room_for_onednn() -> None:
    before, since = (share("arc-pro-b60", version, {}, prefill=2048) for version in ("0.5.19", "0.5.20"))
    assert before - since == pytest.approx((2048 + 2 * 24) / (24 * 1024), abs=0.004)
