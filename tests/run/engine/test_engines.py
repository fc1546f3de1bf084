"""Engines are files: by name and version, with the options that they have, and a user's own beside them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import InputError, load
from archcalc.analyze.memory.engine_step import experts_workspace, kept_by_sampler
from archcalc.run.choose_engine import chosen_engine
from archcalc.run.device import NOTHING_KNOWN, Capabilities
from archcalc.run.device import device as device_named
from archcalc.run.engine.catalog import engine, known
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.engine.rules import Captures
from archcalc.run.engine.running import running
from archcalc.run.options import Options
from archcalc.run.resolve import resolve

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run

GIB = 2**30


def test_every_engine_can_be_read() -> None:
    assert {"vllm", "sglang", "tensorrt-llm", "lmdeploy", "llama.cpp", "ollama", "mlx", "transformers", "plain"} <= set(
        known()
    )
    assert all(engine(name).source for name in known())


def test_a_version_has_the_rules_before_later_changes() -> None:
    """gpu_memory_utilization is 0.92 since 0.20, and top-k by a kernel of its own since 0.17."""
    old, new = engine("vllm@0.16.0"), engine("vllm@0.20")
    assert (old.share, new.share) == (0.9, 0.92)
    assert old.sampler[0].bytes_per_logit > new.sampler[0].bytes_per_logit
    assert engine("vllm@v0.9").version == "0.9"  # which comes before 0.20


@pytest.mark.parametrize(
    ("name", "memory", "tokens"),
    [("NVIDIA H100", 79, 8192), ("NVIDIA A100 80GB", 79, 2048), ("NVIDIA B200", 178, 16384), ("RTX 4090", 23.5, 2048)],
)
def test_a_step_is_as_large_as_vllm_serve_makes_it(name: str, memory: float, tokens: int) -> None:
    """EngineArgs.get_batch_defaults: by memory, and less for an A100."""
    asked = replace(Options.of("memory", {"engine": "vllm"}), device=DeviceFacts(name, int(memory * GIB)))
    assert running(asked, "transformer").tokens == tokens


@pytest.mark.parametrize(("gpu", "requests"), [("h200", 1024), ("a100-80gb", 384), ("rtx-4090", 128)])
def test_requests_of_lmdeploy_follow_the_name_of_a_device(gpu: str, requests: int) -> None:
    """get_max_batch_size in lmdeploy/utils.py."""
    asked = replace(Options.of("memory", {"engine": "lmdeploy"}), device=DeviceFacts.of(device_named(gpu)[1]))
    assert running(asked, "transformer").requests == requests


@pytest.mark.parametrize(("name", "positions"), [("mistral-7b", 32768), ("gemma-2-9b", 8192)])
def test_mlx_caches_windows_of_few_models(name: str, positions: int) -> None:
    """Mistral 7B and Gemma 2 have windows, and no RotatingKVCache in mlx_lm/models: every position of every layer."""
    model = load(name)
    found = [model.memory(engine="mlx", seq=seq).parts["kv_cache"] for seq in (positions, positions // 2)]
    assert found[0] == 2 * found[1]


@pytest.mark.parametrize(
    ("version", "device", "gpus", "gib"),
    [  # non-torch memory as start-up logs print it
        ("0.19", {"link": "NVLink 4"}, 1, 0.25),  # H100: 0.24 to 0.26
        ("0.19", {"link": "NVLink 4"}, 2, 2.1),  # H100: 2.07 to 2.21, buffers of a switch
        ("0.18", {}, 4, 0.25),  # RTX 3090 over PCIe
        ("0.16", {"link": "NVLink 4"}, 2, 0.54),  # H100
        ("0.8.3", {"link": "NVLink 3"}, 4, 0.8),  # with the CUDA context, which counted before 0.9.1
        ("0.7", {"link": "NVLink 3"}, 4, 0.4),  # A100: 0.34 to 0.43
        ("0.7", {}, 16, 0.25),  # RTX 3090: 0.20 to 0.24
        ("0.13", {"maker": "AMD"}, 1, 0.14 + 0.4),  # R9700
        ("0.11.2", {"maker": "AMD"}, 1, 0.14 + 2),  # R9700 and MI300X: 1.1 to 3.1 GiB more than NVIDIA's
        ("0.25", {"kind": "unified"}, 1, 0.25 + 2),  # GB10: the loader's page cache
    ],
)
def test_memory_outside_of_tensors_follows_the_link(version: str, device: Any, gpus: int, gib: float) -> None:
    asked = Options.of("memory", {"engine": f"vllm@{version}"})
    found = running(replace(asked, device=DeviceFacts("a device", 80 * GIB, **device)), "transformer").runtime(gpus)
    assert found == pytest.approx(gib * GIB, rel=0.01)


@pytest.mark.parametrize(
    ("requests", "layers", "graphs", "largest", "gib"),
    [  # two modes: of every captured batch up to twice the requests, and of those that decode; GiB as logs print them
        (1024, 32, 51 + 51, 512, 0.91),  # Llama 3.1 8B on H100
        (1024, 80, 51 + 51, 512, 1.79),  # Llama 3.3 70B
        (256, 48, 51 + 35, 512, 1.18),  # Qwen2.5 14B on RTX A5000
        (64, 32, 19 + 11, 128, 0.23),  # Llama 3.1 8B on RTX 4090
        (64, 48, 19 + 11, 128, 0.32),  # Qwen3 30B-A3B on RTX 3090
        (32, 40, 11 + 7, 64, 0.16),  # Qwen3 14B on RTX 4090
    ],
)
def test_cuda_graphs_follow_the_batches_that_are_captured(
    requests: int, layers: int, graphs: int, largest: int, gib: float
) -> None:
    assert Captures(most=512).graphs(8192, requests, 512) == (largest, graphs)
    asked = Options.of("memory", {"engine": "vllm", "max_num_seqs": requests})
    assert running(asked, "transformer").graphs(layers) / GIB == pytest.approx(gib, rel=0.15)


@pytest.mark.parametrize(("version", "compute", "largest"), [("0.27", "10.0", 512), ("0.28", "10.3", 1024)])
def test_the_largest_graph_is_larger_on_blackwell_in_data_centres(version: str, compute: str, largest: int) -> None:
    """_set_cudagraph_sizes in vllm/config/vllm.py: 1,024 tokens if the compute capability is 10.x, 512 on 12.0."""
    rule = engine(f"vllm@{version}").graphs
    assert rule and rule.captures.limit(Capabilities(compute=compute)) == largest
    assert rule.captures.limit(Capabilities(compute="12.0")) == rule.captures.limit(NOTHING_KNOWN) == 512


@pytest.mark.parametrize(
    ("version", "model", "each", "kept", "is_inside"),
    [  # use_v2_model_runner in vllm/config/vllm.py; its sampler counts tokens, and estimated no graphs before 0.29
        ("0.20", "llama-3-8b", 12, 0, True),
        ("0.23", "llama-3-8b", 4, 33, False),
        ("0.23", "qwen2.5-7b", 12, 0, True),
        ("0.27", "qwen2.5-7b", 4, 33, False),
        ("0.28", "qwen2.5-7b", 0, 33, False),
        ("0.28", "qwen3-30b-a3b", 12, 0, True),
        ("0.29", "qwen3-30b-a3b", 0, 33, True),
        ("0.33", "qwen3-30b-a3b", 12, 33, True),
    ],
)
def test_dense_models_moved_to_the_second_model_runner_first(
    version: str, model: str, each: int, kept: int, is_inside: bool
) -> None:
    asked = Options.of("memory", {"engine": f"vllm@{version}"})
    used, _ = chosen_engine(load(model), asked, None)
    assert used.sampler and (used.sampler.bytes_per_logit, used.sampler.kept_bits) == (each, kept)
    assert (used.graphs_outside(32) == 0) is is_inside


def test_a_sampler_keeps_a_count_of_every_token_for_every_request() -> None:
    """An int32 and a bit for each of 128,256 tokens: 517 MiB of 1,024 requests (v1/worker/gpu/sample/penalties.py). Of
    Qwen3.5 9B with 256 requests vLLM's pull request 52718 has 242.5 MiB for the counts, within the pool's share."""
    model = load("llama-3-8b")
    run = resolve(model, Options.of("memory", {"engine": "vllm@0.32"}))
    root = model.build(model.workload(mode="prefill", attention="flash"))
    assert kept_by_sampler(root, run) == 1024 * 128256 * 33 // 8
    assert kept_by_sampler(root, resolve(model, Options.of("memory", {"engine": "vllm@0.20"}))) == 0


@pytest.mark.parametrize(("weights", "widths"), [(None, 2048 + 2048), ("int4", 2048 + 2048), ("fp8", 2048 + 768)])
def test_experts_compute_in_two_buffers(weights: str | None, widths: int) -> None:
    """Of 8,192 tokens with 8 of Qwen3 30B-A3B's experts each, twice 768 wide: workspace_shapes of TritonExperts is
    max(768, 2048) and max(1536, 2048). `Available KV cache memory: 15.41 GiB` on an H100 of 0.19 has them in it."""
    model = load("qwen3-30b-a3b")
    run = resolve(model, Options.of("memory", {"engine": "vllm", **({"weights": weights} if weights else {})}))
    root = model.build(model.workload(mode="prefill", attention="flash", seq=8192))
    assert experts_workspace(root, run) == 8192 * 8 * widths * 2


@pytest.mark.parametrize(
    ("version", "model", "generation", "states"),
    [  # a state within a prompt has a block of its own: Mamba2 since 0.32, GDN since 0.33 where FlashInfer runs it
        ("0.31", "codestral-mamba-7b", "hopper", 2),
        ("0.32", "codestral-mamba-7b", "ampere", 3),
        ("0.32", "qwen3-next-80b-a3b", "hopper", 2),
        ("0.33", "qwen3-next-80b-a3b", "hopper", 3),
        ("0.33", "qwen3-next-80b-a3b", "ampere", 2),
    ],
)
def test_a_recurrent_layer_keeps_a_state_within_a_prompt(
    version: str, model: str, generation: str, states: int
) -> None:
    device = DeviceFacts("a device", 80 * GIB, maker="NVIDIA", generation=generation)
    asked = replace(Options.of("memory", {"engine": f"vllm@{version}"}), device=device)
    assert chosen_engine(load(model), asked, None)[0].rules.blocks.states == states


@pytest.mark.parametrize(
    ("positions", "requests", "tokens"), [(100, 1, 800), (100, 16, 4096), (8192, 1, 65536), (163840, 256, 65536)]
)
def test_latent_attention_expands_a_context_in_pieces(positions: int, requests: int, tokens: int) -> None:
    """determine_chunked_prefill_workspace_size: 8 requests, or 4 blocks of 64 tokens of every request; 64 K at most."""
    rule = engine("vllm").latent_workspace
    assert rule and rule.tokens(positions, requests) == tokens


@pytest.mark.parametrize(
    ("version", "maker", "is_inside"),
    [("0.19", "NVIDIA", False), ("0.20", "NVIDIA", True), ("0.25", "AMD", False), ("0.27", "AMD", True)],
)
def test_graphs_count_within_the_share_since_they_are_estimated(version: str, maker: str, is_inside: bool) -> None:
    asked = Options.of("memory", {"engine": f"vllm@{version}"})
    found = running(replace(asked, device=DeviceFacts("a device", 80 * GIB, maker=maker)), "transformer")
    assert found.graphs(32) > 0 and (found.graphs_outside(32) == 0) is is_inside


@pytest.mark.parametrize(
    ("version", "maker", "each"), [("0.10", "NVIDIA", 12), ("0.10", "AMD", 36), ("0.12", "NVIDIA", 36)]
)
def test_the_sampler_of_a_device(version: str, maker: str, each: int) -> None:
    """FlashInfer chose tokens on NVIDIA devices up to 0.11.0; torch.sort does it in 0.12."""
    asked = Options.of("memory", {"engine": f"vllm@{version}"})
    found = running(replace(asked, device=DeviceFacts("a device", 80 * GIB, maker=maker)), "transformer").sampler
    assert found and found.bytes_per_logit == each


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("--engine vlm", "did you mean vllm"),
        ("--engine vllm@new", "no version"),
        ("--engine tgi", "the nearest is --engine tensorrt-llm: both try a prefill step"),
        ("--engine Text-Generation-Inference", "the nearest is --engine tensorrt-llm"),
        ("--engine ktransformers", "the nearest is --engine sglang"),
        ("--engine exllamav2", "the nearest is --engine plain"),
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
    """llama.cpp computes 512 tokens of any prompt, in fp32: gate, up and their product, four of the stream, and a
    mask in fp16; up to b9459 logits for each of them."""
    model, width = load("llama-3-8b"), 3 * 14336 + 4 * 4096
    for length in (4096, 8192):
        found = model.memory(engine="llama.cpp", seq=length).parts["activations"]
        assert found - 512 * 2 * length == pytest.approx(512 * 4 * width, rel=0.01)
        assert model.memory(engine="llama.cpp@b9459", seq=length).parts["activations"] == 512 * 4 * (128256 + 4096)


def test_both_engines_of_a_name_are_one() -> None:
    with pytest.raises(InputError, match="no engine is called"):
        engine("no such thing")
    assert engine("llamacpp") == engine("llama.cpp")


@pytest.mark.parametrize(("version", "is_said"), [("99", True), ("0.33.1", False), ("0.12", False)])
def test_a_version_that_nobody_read_is_said_to_be_so(version: str, is_said: bool) -> None:
    """A patch of the newest has its rules."""
    notes = map(str, load("gpt2").memory(engine=f"vllm@{version}").assumptions)
    assert any("the newest that was read" in note for note in notes) is is_said
