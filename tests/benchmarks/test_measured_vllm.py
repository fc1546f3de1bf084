"""KV caches of vLLM's logs: windows that a case gives or leaves out, and tokens as each version counts them."""

from __future__ import annotations

from typing import Any

import pytest
from measured_figures import figures

GEMMA = {"layers": 62, "hidden": 5376, "heads": 32, "kv_heads": 16, "head_dim": 128, "ffn": 21504, "vocab": 262208}
LAYER = 2 * 16 * 128 * 2  # keys and values of a token, in bf16
OLD = {"available_kv_gib": 35.31, "kv_cache_tokens": 66_112}  # of whole blocks, and so of an old version
REQUESTS = {"available_kv_gib": 16, "kv_cache_tokens": 100_001}  # of no whole blocks, and so of a new one
NEW = {"available_kv_gib": 10.56, "kv_cache_tokens": 188_347}  # a log of 0.26 on an L40S


def log(measured: dict[str, Any], model: str = "google/gemma-3-27b-it", **more: Any) -> dict[str, Any]:
    usual: dict[str, Any] = {"id": "log", "kind": "vllm_startup", "model": model, "arch": GEMMA, "seq": 131_072}
    return {**usual, "measured": measured, **more}


def predicted(case: Any) -> float:
    (figure,) = (one for one in figures([case]) if one.of.startswith("KV cache per token"))
    assert figure.predicted is not None, figure.why_not
    return figure.predicted


@pytest.mark.parametrize("name", ["google/gemma-3-27b-it", "Gemma 3 27B", "gemma3-27b", "RedHatAI/gemma-3-27b-it-FP8"])
def test_windows_that_a_case_leaves_out_are_the_published_ones(name: str) -> None:
    """10 full and 52 windowed layers are 7 groups of 10, by any spelling of the name."""
    assert predicted(log(OLD, name)) == 70 * LAYER


@pytest.mark.parametrize("unsaid", [{"sliding_window": None}, {"sliding_window": "1024"}, {"sw_pattern": "5:1"}])
def test_what_a_case_says_of_windows_is_read_in_any_form(unsaid: dict[str, Any]) -> None:
    assert predicted(log(OLD, arch={**GEMMA, **unsaid})) == 70 * LAYER


@pytest.mark.parametrize(
    ("said", "layers"),
    [
        ({"sliding_window": 1024, "sw_pattern": "5:1"}, 70),
        ({"sliding_window": 1024, "sliding_window_pattern": 6}, 70),
        ({"sliding_window": 1024, "swa_layers": 52}, 70),
        ({"sliding_window": 1024, "sw_pattern": "3:1"}, 15 * 5),  # 15 full and 47 windowed, the latter in 4 groups
        ({"sliding_window": 1024}, 62),  # in every layer, and so one group
        ({"sliding_window": 0}, 62),
        ({}, 62),
    ],
)
def test_windows_of_a_model_that_nobody_knows(said: dict[str, Any], layers: int) -> None:
    assert predicted(log(OLD, "nobody/one", arch={**GEMMA, **said})) == layers * LAYER


def test_the_first_gemma_has_no_windows() -> None:
    """`gemma-2b` is no Gemma 2."""
    names, arch = ("google/gemma-2b", "google/gemma-2-2b"), {**GEMMA, "layers": 18}
    first, second = (predicted(log(REQUESTS, name, arch=arch)) for name in names)
    assert first == pytest.approx(18 * LAYER)
    window = 16 * (-(-(4095 + 2 * 8192) // 16) + 1)
    assert second == pytest.approx((9 + 9 * window / 131_072) * LAYER)


@pytest.mark.parametrize(
    ("flags", "layers"),
    [
        ({"engine": "vLLM v0.8.5.post1"}, 62),
        ({"engine": "vLLM 0.9.1"}, 70),
        ({"disable_hybrid_kv_cache_manager": True}, 62),
        ({"disable_hybrid_kv_cache_manager": "false"}, 70),
    ],
)
def test_layers_are_grouped_since_there_are_groups(flags: dict[str, Any], layers: int) -> None:
    assert predicted(log(OLD, flags=flags)) == layers * LAYER


@pytest.mark.parametrize(
    "more",
    [
        {"flags": {"max_num_batched_tokens": "2,048", "engine": "v0.26.0"}},
        {"flags": {"engine": "v0.26.0"}, "gpu": "NVIDIA L40S"},
        {"engine": "vLLM 0.26.0", "gpu": "1x RTX 4090 24GB"},
        {"gpu": "A100-SXM4-80GB"},
    ],
)
def test_tokens_in_flight_are_as_said_or_as_usual_on_the_gpu(more: dict[str, Any]) -> None:
    """65,536 tokens and 6 windows of 1,023 with two batches of 2,048, one block more each, in fp8."""
    blocks = 65_536 // 16 + 6 * (-(-(1023 + 2 * 2048) // 16) + 1)
    case = log(NEW, seq=65_536, kv_cache_dtype="fp8", **{"flags": {}, **more})
    assert predicted(case) == pytest.approx(blocks * 10 * 16 * LAYER / 2 / 65_536)
    assert predicted({**case, "gpu": "H100", "flags": {}}) > 1.4 * predicted(case)


@pytest.mark.parametrize("name", ["meta-llama/Llama-4-Scout-17B-16E-Instruct", "Llama 4 Maverick"])
def test_chunks_of_llama_4(name: str) -> None:
    """36 of 48 layers keep 8,192 tokens and two batches of as many, of 131,072."""
    arch = {**GEMMA, "layers": 48, "experts": 16, "experts_active": 1, "moe_ffn": 64}
    found = predicted(log(REQUESTS, name, arch=arch))
    assert found == pytest.approx((12 + 36 * 3 * 8192 / 131_072) * LAYER)


BROKEN: list[dict[str, Any]] = [
    log({**OLD, "kv_cache_tokens": "many"}),
    log({**OLD, "available_kv_gib": "much"}),
    log(OLD, arch={}),
    log(OLD, arch={**GEMMA, "sliding_window": "wide"}),
    log(OLD, arch={**GEMMA, "sliding_window": [1024]}),
    log(OLD, seq="long"),
    log(OLD, flags={"max_num_batched_tokens": "all"}),
    log(OLD, parallelism={"pp": 2}),
    log(OLD, gpu="2x L4, PP=2"),
]


@pytest.mark.parametrize("number", range(len(BROKEN)))
def test_a_log_that_cannot_be_read_says_why(number: int) -> None:
    found = figures([BROKEN[number]])
    assert all(one.predicted is None and one.why_not for one in found)
    assert not any("is read here" in str(one.why_not) for one in found), found


def test_a_log_without_tokens_is_not_compared() -> None:
    assert all(
        one.predicted is None for one in figures([log({"available_kv_gib": 35.31}), log({"kv_cache_tokens": 66_112})])
    )
