"""Engines are files: by name and version, with the options that they have, and a user's own beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from archcalc import InputError, load
from archcalc.run.engine.catalog import engine, known
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.running import running
from archcalc.run.options import Options

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

GIB = 2**30


def test_every_engine_can_be_read() -> None:
    assert {"vllm", "sglang", "tensorrt-llm", "llama.cpp", "ollama", "mlx", "transformers", "plain"} <= set(known())
    assert all(engine(name).source for name in known())


def test_a_version_has_the_rules_before_later_changes() -> None:
    """gpu_memory_utilization is 0.92 since 0.20, and top-k by a kernel of its own since 0.17."""
    old, new = engine("vllm@0.16.0"), engine("vllm")
    assert (old.share, new.share) == (0.9, 0.92)
    assert old.sampler and new.sampler and old.sampler.bytes_per_logit > new.sampler.bytes_per_logit
    assert engine("vllm@v0.9").version == "0.9"  # which comes before 0.20


@pytest.mark.parametrize(
    ("name", "memory", "tokens"),
    [("NVIDIA H100", 79, 8192), ("NVIDIA A100 80GB", 79, 2048), ("NVIDIA B200", 178, 16384), ("RTX 4090", 23.5, 2048)],
)
def test_a_step_is_as_large_as_vllm_serve_makes_it(name: str, memory: float, tokens: int) -> None:
    """EngineArgs.get_batch_defaults: by memory, and less for an A100."""
    asked = replace(Options.of("memory", {"engine": "vllm"}), device=DeviceFacts(name, int(memory * GIB)))
    assert running(asked, "transformer").tokens == tokens


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("--engine vlm", "did you mean vllm"),
        ("--engine vllm@new", "no version"),
        ("--engine llama.cpp --kv-dtype fp8", "llama.cpp has no KV cache in fp8"),
        ("--engine llama.cpp --weights int4", "llama.cpp reads GGUF files, which hold no int4"),
        ("--engine ollama --weights fp8", "Ollama reads GGUF files, which hold no fp8"),
        ("--engine tensorrt-llm --weights q4_k_m", "TensorRT-LLM reads no GGUF files, and q4_k_m is a type of theirs"),
        ("--engine llama.cpp --tp 2", "splits layers"),
        ("--max-num-seqs 4", "only an engine that serves"),
        ("--engine mlx --max-num-seqs 4", "only an engine that serves"),
        ("--gpu-memory-utilization 0.5", "gpu-memory-utilization"),
        ("--engine vllm --mode train", "no effect with --mode train"),
    ],
)
def test_refused(run: Run, arguments: str, fact: str) -> None:
    found = run("memory", "llama-3-8b", *arguments.split())
    assert found.code == 2 and fact in found.err


def test_an_engine_for_language_models_runs_no_convolutions(run: Run) -> None:
    found = run("fit", "resnet-18", "--engine", "vllm", "--gpu", "h100")
    assert found.code == 2 and "vLLM runs models of the family transformer, and this is one of network" in found.err
    assert run("fit", "resnet-18", "--engine", "transformers", "--gpu", "h100").code == 0


@pytest.mark.parametrize(
    "arguments",
    ["llama.cpp --weights Q4_K_M", "llama.cpp --weights mxfp4_gguf", "ollama --weights f16", "mlx --weights int4"],
)
def test_formats_that_an_engine_reads(run: Run, arguments: str) -> None:
    assert run("memory", "llama-3-8b", "--engine", *arguments.split()).code == 0


def test_an_engine_of_ones_own_is_a_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "engines").mkdir()
    text = "name: Own\nsource: a measurement\nruntime: {one_gpu: 3GiB, several_gpus: 4GiB}\n"
    (tmp_path / "engines" / "own.yaml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    parts = run("memory", "gpt2", "--engine", "own", "--format", "json").json["parts"]
    assert parts["overhead"] == 3 * GIB


def test_a_mistake_in_an_engines_file_is_shown_at_its_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "engines").mkdir()
    (tmp_path / "engines" / "broken.yaml").write_text("name: Broken\nsource: none\nshares: 0.5\n", encoding="utf-8")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    found = run("memory", "gpt2", "--engine", "broken")
    assert found.code == 2 and "shares" in found.err and "broken.yaml:3" in found.err


def test_what_the_engine_chooses_is_said() -> None:
    texts = " ".join(str(one) for one in load("llama-3-8b").memory(engine="vllm").assumptions)
    assert "8,192 tokens in a step" in texts and "1,024 requests" in texts and "--max-num-seqs" in texts


def test_the_engine_of_a_prompt_is_what_it_reads_at_once() -> None:
    """llama.cpp computes 512 tokens of any prompt, in fp32, with logits for each of them."""
    model = load("llama-3-8b")
    short, long = (model.memory(engine="llama.cpp", seq=length).parts["activations"] for length in (4096, 8192))
    assert short == long == 512 * 4 * (128256 + 4096)


def test_both_engines_of_a_name_are_one() -> None:
    with pytest.raises(InputError, match="no engine is called"):
        engine("no such thing")
    assert engine("llamacpp") == engine("llama.cpp")
