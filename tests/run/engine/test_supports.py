"""Which engine runs what on which device: tables of what runs, what is refused, and what is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc.analyze.fit import need
from archcalc.core.assumptions import Topic
from archcalc.run.accuracy import Band
from archcalc.run.device import device
from archcalc.run.engine.catalog import engine, known
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.running import Running
from archcalc.run.engine.supports import refusal, replacement

if TYPE_CHECKING:
    from conftest import Run


def on(name: str) -> DeviceFacts:
    return DeviceFacts.of(device(name)[1])


def test_every_engine_names_the_version_that_was_read() -> None:
    assert [name for name in known() if name != "plain" and not engine(name).version] == []


@pytest.mark.parametrize(
    ("name", "runs", "refused"),
    [
        (
            "vllm",
            "t4 rtx-3090 h100 b200 mi50-32gb mi300x rx-7900-xtx arc-b580 tpu-v5e 24GB",
            "gtx-1080-ti v100-32gb k80",
        ),
        ("vllm", "rx-6800", "rx-5700 rx-vega-64 m4-max-36gb trn2"),
        ("vllm@0.19", "v100-32gb t4", "gtx-1080-ti"),
        ("sglang", "a100-80gb h100 mi300x", "t4 v100-32gb mi250x rx-7900-xtx m4-max-36gb"),
        ("sglang@0.4", "t4", "v100-32gb"),
        ("tensorrt-llm", "a100-80gb h100 rtx-5090", "t4 mi300x"),
        ("llama.cpp", "k80 gtx-1080-ti h100 rx-5700 arc-a770 m1-8gb 24GB", "tpu-v5e gaudi2 trn2"),
        ("ollama", "m40-24gb gtx-1080-ti m4-max-36gb", "k80 tpu-v5e"),
        ("mlx", "m1-8gb m4-max-36gb 24GB", "h100 rx-6800"),
        ("transformers", "gtx-1080-ti h100 m4-max-36gb mi300x", "k80"),
        ("plain", "k80 h100 m4-max-36gb trn2", ""),
    ],
)
def test_where_an_engine_runs(name: str, runs: str, refused: str) -> None:
    found = {card: refusal(engine(name), on(card)) is None for card in (runs + " " + refused).split()}
    assert found == dict.fromkeys(runs.split(), True) | dict.fromkeys(refused.split(), False)


@pytest.mark.parametrize(
    ("name", "card", "weights", "runs"),
    [
        ("vllm", "h100", "fp8", True),
        ("vllm", "rtx-3090", "fp8", True),
        ("vllm", "t4", "fp8", True),
        ("vllm@0.13", "t4", "fp8", False),
        ("vllm@0.5.0", "rtx-3090", "fp8", False),
        ("vllm", "rx-7900-xtx", "fp8", False),
        ("vllm", "mi250x", "fp8", False),
        ("vllm", "mi300x", "fp8", True),
        ("vllm", "t4", "int4", True),
        ("vllm", "t4", "int8", True),
        ("vllm", "t4", "mxfp4", False),
        ("vllm", "rtx-3090", "mxfp4", True),
        ("vllm", "rtx-3090", "nvfp4", True),
        ("vllm@0.8", "h100", "nvfp4", False),
        ("vllm@0.8", "b200", "nvfp4", True),
        ("vllm", "24GB", "nvfp4", True),
        ("sglang", "rtx-3090", "fp8", True),
        ("tensorrt-llm", "a100-80gb", "fp8", False),
        ("tensorrt-llm", "h100", "fp8", True),
        ("tensorrt-llm", "h100", "nvfp4", False),
        ("tensorrt-llm", "b200", "nvfp4", True),
        ("transformers", "gtx-1080-ti", "nf4", True),
        ("transformers", "v100-32gb", "int8", False),
        ("transformers", "t4", "int8", True),
        ("transformers", "a100-80gb", "fp8", False),
        ("transformers", "tpu-v5e", "nf4", False),
        ("llama.cpp", "h100", "fp8", False),
        ("llama.cpp", "h100", "mxfp4", True),
        ("mlx", "m4-max-36gb", "fp8", False),
        ("mlx", "m4-max-36gb", "mlx", True),
    ],
)
def test_weights_by_engine_and_device(name: str, card: str, weights: str, runs: bool) -> None:
    assert (refusal(engine(name), on(card), weights=(weights,)) is None) is runs


@pytest.mark.parametrize(
    ("name", "card", "kv", "runs"),
    [
        ("vllm", "h100", "fp8", True),
        ("vllm", "rtx-3090", "fp8", True),
        ("vllm", "t4", "fp8", False),
        ("vllm@0.27", "t4", "fp8", True),
        ("vllm", "t4", "fp16", True),
        ("vllm", "t4", "bf16", False),
        ("vllm", "mi300x", "fp8", True),
    ],
)
def test_a_cache_by_engine_and_device(name: str, card: str, kv: str, runs: bool) -> None:
    assert (refusal(engine(name), on(card), kv=(kv,)) is None) is runs


@pytest.mark.parametrize(
    ("name", "card", "stored", "model_type", "taken"),
    [
        ("vllm", "t4", "bf16", "llama", "fp16"),
        ("vllm", "t4", "bf16", "gemma2", "fp32"),
        ("vllm", "a100-80gb", "bf16", "llama", None),
        ("vllm", "a100-80gb", "fp32", "gpt2", "bf16"),
        ("vllm", "t4", "fp32", "gpt2", "fp16"),
        ("vllm@0.9.0", "a100-80gb", "fp32", "gpt2", "fp16"),
        ("vllm", "24GB", "bf16", "llama", None),
        ("sglang", "a100-80gb", "fp32", "gpt2", "fp16"),
        ("transformers", "v100-32gb", "bf16", "llama", "fp16"),
        ("transformers", "m40-24gb", "bf16", "llama", "fp32"),
        ("transformers", "a100-80gb", "fp32", "gpt2", None),
        ("llama.cpp", "gtx-1080-ti", "bf16", "llama", None),
        ("mlx", "m1-8gb", "bf16", "llama", None),
    ],
)
def test_the_number_format_that_is_taken(name: str, card: str, stored: str, model_type: str, taken: str | None) -> None:
    """Asked of nothing but the model's own files: what is asked for is refused instead."""
    found = replacement(engine(name), on(card), stored, model_type)
    assert (found.value if found else None) == taken
    assert found is None or found.value in found.why


@pytest.mark.parametrize(
    ("arguments", "fact", "hint"),
    [
        (
            "llama-3-8b --gpu gtx-1080-ti --engine vllm",
            "vLLM 0.33 needs compute capability 7.5 or higher, and NVIDIA GeForce GTX 1080 Ti 11GB has 6.1",
            "--engine llama.cpp --weights q4_k_m",
        ),
        ("llama-3-8b --gpu v100-32gb --engine vllm", "and NVIDIA Tesla V100 32GB SXM2 has 7.0", "--engine vllm@0.19"),
        ("llama-3-8b --gpu rx-5700 --engine vllm", "vLLM 0.33 has no kernels for AMD Radeon RX 5700", "llama.cpp runs"),
        ("llama-3-8b --gpu tpu-v5e --engine llama.cpp", "not on those of Google", "--engine transformers"),
        ("llama-3-8b --gpu t4 --engine vllm --precision bf16", "7.5) has no bf16", "--precision fp16"),
        ("llama-3-8b --gpu t4 --engine vllm --kv-dtype fp8", "a KV cache in fp8 from compute capability 8.0", "fp16"),
        ("gpt-oss-20b --gpu t4 --engine vllm", "weights in mxfp4 from compute capability 8.0 on", "--weights int4"),
        ("deepseek-v3 --gpu a100-80gb --engine tensorrt-llm", "weights in fp8 from compute capability 8.9", "int4"),
        ("deepseek-v3 --gpu rtx-3090 --engine transformers", "has 8.6", "it loads them as bf16 there: --weights bf16"),
        ("deepseek-v3 --gpu h100 --engine llama.cpp", "llama.cpp b10586 does not run weights in fp8", "q4_k_m"),
        (
            "llama-3-8b --gpu rx-7900-xtx --engine vllm --weights fp8",
            "does not run weights in fp8 on AMD Radeon",
            "int4",
        ),
        (
            "llama-3-8b --gpu rx-6800 --engine transformers --attention flash",
            "(gfx1030) that stores no scores",
            "eager",
        ),
    ],
)
def test_refused_in_words(run: Run, arguments: str, fact: str, hint: str) -> None:
    found = run("fit", *arguments.split())
    assert found.code == 2 and fact in found.err and hint in found.err


@pytest.mark.parametrize(
    "arguments",
    [
        "llama-3-8b --gpu 24GB --engine vllm --weights nvfp4 --kv-dtype fp8",
        "llama-3-8b --gpu t4 --engine vllm",
        "llama-3-8b --gpu gtx-1080-ti --engine llama.cpp --weights q4_k_m",
        "llama-3-8b --gpu gtx-1080-ti --engine transformers --attention flash",
        "llama-3-8b --gpu gtx-1080-ti --engine llama.cpp --weights bf16",
    ],
)
def test_not_refused(run: Run, arguments: str) -> None:
    assert run("fit", *arguments.split()).code == 0


def test_weights_that_run_in_another_way_are_told(run: Run) -> None:
    out = " ".join(run("fit", "llama-3-8b", "--gpu", "rtx-3090", "--engine", "vllm", "--weights", "fp8").out.split())
    assert "fp8 weights: weight-only, by Marlin kernels in 16 bits, since NVIDIA GeForce RTX 3090" in out
    by_vllm = (
        Running(engine("vllm"), on("h100"), weights=("fp8",)),
        Running(engine("vllm"), on("rtx-3090"), weights=("gguf",)),
    )
    native, installed = ([note.text for note in one.assumptions() if note.topic is Topic.WEIGHTS] for one in by_vllm)
    assert native == [] and installed == ["gguf weights: vLLM 0.33 needs the plugin vllm-gguf-plugin"]


@pytest.mark.parametrize(("card", "batch", "offered"), [("rtx-3090", 28, True), ("rtx-2080-ti-22gb", 21, False)])
def test_remedies_offer_what_runs_on_the_device(
    run: Run, monkeypatch: pytest.MonkeyPatch, card: str, batch: int, offered: bool
) -> None:
    """A KV cache in fp8 halves 2 × 28 layers × 4 heads × 128 × 2 bytes a token, which is enough on both cards; one of
    compute capability 7.5 does not run it."""
    monkeypatch.setattr(need, "band", lambda run, parts: Band(5, 8, "any"))
    sizes = ("--batch", str(batch), "--seq", "4k")
    found = run("fit", "qwen2.5-7b", "--engine", "vllm", *sizes, "--gpu", card, "--format", "json").json["remedies"]
    options = [one["option"] for one in found]
    assert ("--kv-dtype fp8" in options) is offered
    assert "--weights int8" in options


def test_cards_without_a_fused_kernel_are_not_offered_one_for_training(run: Run) -> None:
    """Two cards of 12 GB: Turing has PyTorch's memory-efficient attention, RDNA 2 no kernel that stores no scores."""
    sizes = ("--mode", "train", "--attention", "eager", "--batch", "4", "--seq", "1024", "--format", "json")
    offered = {
        card: "--attention flash"
        in [one["option"] for one in run("fit", "gpt2", *sizes, "--gpu", card).json["remedies"]]
        for card in ("rx-6700-xt", "rtx-2060-12gb")
    }
    assert offered == {"rx-6700-xt": False, "rtx-2060-12gb": True}
