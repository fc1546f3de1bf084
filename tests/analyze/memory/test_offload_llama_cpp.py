"""Layers and experts in host RAM, against the buffers that llama.cpp printed when it loaded such models.

`load_tensors: CUDA0 model buffer size` is what a GPU has, `CPU_Mapped` and `CPU` what host RAM has. A mapped buffer may
count more than its tensors: all of the file between the first and the last of them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from archcalc import load
from archcalc.core.errors import InputError

MIB = 2**20


class Log(NamedTuple):
    """Buffers in MiB as they were printed, to two digits."""

    model: str
    options: dict[str, Any]
    gpu: float
    host: float | None
    source: str


ALL = 99
LOGS = [
    Log("gpt-oss-20b", {"weights": "mxfp4_gguf", "ngl": ALL}, 10949.38, 586.82, "public GitHub file 42923787156"),
    Log("qwen2.5-14b", {"weights": "q4_k_m", "ngl": ALL}, 8148.38, 417.66, "public GitHub file 29219291718"),
    Log(
        "qwen3-30b-a3b",
        {"weights": "q4_k_m", "ngl": ALL, "n_cpu_moe": 24},
        9154.42,
        None,
        "public GitHub file 61402796327, on a GPU by Vulkan",
    ),
    Log(
        "qwen3-30b-a3b",
        {"weights": "q4_k_m", "ngl": ALL, "cpu_moe": True},
        135.76 + 648.66,
        None,
        "public GitHub file 17521272204, -ot exps=CPU over two GPUs",
    ),
]


@pytest.mark.parametrize("log", LOGS, ids=lambda log: f"{log.model} {log.options}")
def test_weights_are_where_llama_cpp_puts_them(log: Log) -> None:
    report = load(log.model).memory(mode="decode", context=1024, **log.options)
    assert report.host
    assert report.parts["weights"] / MIB == pytest.approx(log.gpu, abs=0.05)
    if log.host is not None:
        assert report.host.parts["weights"] / MIB == pytest.approx(log.host, abs=0.01)


def with_output_layer_in_host(name: str, layers: int, **options: Any) -> tuple[float, float, float, float]:
    """Before 2025-12-18 (57c1e05) `-ngl N` of llama.cpp were N layers without the output layer, which came last.
    Weights and KV cache on the GPU, then in host RAM."""
    report = load(name).memory(mode="decode", ngl=layers + 1, **options)
    assert report.host
    output = sum(row.bytes for row in report.rows if row.path in ("head", "decoder.norm"))
    on_gpu, in_host = report.parts, report.host.parts
    weights = on_gpu["weights"] - output, in_host["weights"] + output
    return weights[0] / MIB, on_gpu["kv_cache"] / MIB, weights[1] / MIB, in_host["kv_cache"] / MIB


def test_thirty_of_49_layers() -> None:
    """`offloaded 30/49 layers to GPU`, of Qwen3-30B-A3B in Q4_K_M: github.com/ggml-org/llama.cpp/issues/13729."""
    on_gpu, _, in_host, _ = with_output_layer_in_host("qwen3-30b-a3b", 30, weights="q4_k_m", context=4095)
    assert on_gpu == pytest.approx(10750.86, abs=0.01)
    assert in_host == pytest.approx(6940.48, abs=0.01)


def test_twenty_nine_of_65_layers_and_their_cache() -> None:
    """QwQ-32B, which is Qwen2.5-32B, in Q4_K_M with a cache in q8_0; public GitHub file 65940070224."""
    asked: dict[str, Any] = {"weights": "q4_k_m", "kv_dtype": "q8_0", "context": 8191}
    found = with_output_layer_in_host("qwen2.5-32b", 29, **asked)
    assert found == pytest.approx((8128.64, 493.00, 417.66 + 10379.71, 595.00), abs=0.01)


def test_layers_on_the_gpu_and_in_host_ram_are_all_of_them() -> None:
    model = load("llama-3.1-8b")
    whole = model.memory(weights="q4_k_m", mode="decode", context=4096)
    for layers in (1, 20, 32, 33, 99):
        report = model.memory(weights="q4_k_m", mode="decode", context=4096, ngl=layers)
        assert report.host
        for part in ("weights", "kv_cache"):
            assert report.parts[part] + report.host.parts.get(part, 0) == whole.parts[part]


def test_the_output_layer_is_the_first_on_the_gpu() -> None:
    report = load("llama-3.1-8b").memory(mode="decode", ngl=1, context=1024, overhead=0)
    assert report.parts["weights"] == 2 * (128256 * 4096 + 4096)
    assert report.parts["kv_cache"] == 0


def test_without_layers_the_gpu_holds_nothing() -> None:
    """The CPU computes: its activations are in host RAM too."""
    report = load("llama-3.1-8b").memory(mode="decode", ngl=0, context=1024, overhead=0)
    assert report.host
    assert report.total_bytes == 0
    assert report.host.parts["activations"] > 0
    assert report.host.crossing == (0, 0)


def test_a_table_that_the_output_layer_shares_is_in_both_places() -> None:
    """llama.cpp makes a copy of `token_embd.weight` where there is no `output.weight`."""
    report = load("llama-3.2-1b").memory(mode="decode", ngl=99, context=1024)
    assert report.host
    assert report.host.parts["weights"] == 2 * 128256 * 2048
    assert report.parts["weights"] == load("llama-3.2-1b").memory(mode="decode", context=1024).parts["weights"]


def test_experts_stay_whole_in_host_ram_however_many_gpus_share_the_rest() -> None:
    model = load("qwen3-30b-a3b")
    one, two = (model.memory(mode="decode", context=64, cpu_moe=True, tp=tp) for tp in (1, 2))
    assert one.host
    assert two.host
    assert one.host.parts["weights"] == two.host.parts["weights"] == 48 * 128 * 3 * 2048 * 768 * 2


def test_few_tokens_cross_the_bus_as_hidden_states() -> None:
    """48 layers send what the router saw and the experts' input, and get the answer back; the table sends one row."""
    report = load("qwen3-30b-a3b").memory(mode="decode", context=64, batch=4, cpu_moe=True, offload="embedding")
    assert report.host
    row = 4 * 2048 * 2
    assert report.host.crossing.to_gpu == 48 * row + row
    assert 48 * row < report.host.crossing.to_host < 49 * row


def test_a_prompt_makes_weights_cross_the_bus() -> None:
    """From 32 tokens on llama.cpp copies a matrix to the GPU to multiply with it: one at a time."""
    model, expert = load("qwen3-30b-a3b"), 128 * 2048 * 768 * 2
    short, long = (model.memory(mode="prefill", seq=seq, cpu_moe=True, overhead=0) for seq in (31, 32))
    assert short.host
    assert long.host
    assert long.host.crossing.to_gpu == 48 * 3 * expert
    assert short.host.crossing.to_gpu == 48 * 31 * 2048 * 2
    assert long.total_bytes - short.total_bytes > expert - 2**20


def test_experts_of_some_layers() -> None:
    model = load("glm-4.5-air")
    few, every = (model.memory(mode="decode", context=64, n_cpu_moe=layers) for layers in (3, 99))
    assert few.host
    assert every.host
    assert every.host == model.memory(mode="decode", context=64, cpu_moe=True).host
    assert few.host.bytes * 45 == every.host.bytes * 2  # the first of 46 layers has no experts


@pytest.mark.parametrize(
    ("name", "asked", "told"),
    [
        ("llama-3.1-8b", {"cpu_moe": True}, "this model has no experts"),
        ("resnet-50", {"offload": "embedding"}, "this model has no input tables"),
        ("t5-small", {"ngl": 3}, "counts the layers of one stack, and this model has 2 stacks: decoder, encoder"),
        ("resnet-50", {"ngl": 3}, "counts the layers of one stack"),
        ("llama-3.1-8b", {"offload": "optimizer"}, "optimizer has no effect with --mode infer"),
        ("llama-3.1-8b", {"offload": "params"}, "use --ngl N"),
        ("llama-3.1-8b", {"offload": "kv"}, "no part called kv can be offloaded"),
        ("mixtral-8x7b", {"cpu_moe": True, "n_cpu_moe": 3}, "the experts of all layers are in host RAM already"),
        ("llama-3.1-8b", {"ngl": 3, "kv_rule": "vllm"}, "vLLM deals out no layers"),
    ],
)
def test_what_has_no_sense_is_refused(name: str, asked: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as refused:
        load(name).memory(**asked)
    assert told in refused.value.told()
