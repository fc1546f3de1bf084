"""Caches and scores of llama.cpp, against the block sizes of GGML and what llama.cpp printed when it loaded models.

Block sizes: ggml/src/ggml-common.h, bytes of a block of 32 numbers. Logs: `llama_kv_cache: size`,
`llama_memory_recurrent: size`, `compute buffer size`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from archcalc import InputError, load
from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.peak import Peak, peak
from archcalc.run.device import group
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from conftest import Run

MIB = 2**20
LENGTH, LAYERS, HEADS, WIDTH = 8192, 32, 8, 128  # Llama 3 8B
NUMBERS = LENGTH * LAYERS * HEADS * WIDTH  # of keys, and as many of values
OF_32 = {"f32": 128, "f16": 64, "bf16": 64, "q8_0": 34, "q5_1": 24, "q5_0": 22, "q4_1": 20, "q4_0": 18, "iq4_nl": 18}


def parts(name: str, **options: Any) -> dict[str, int]:
    return load(name).memory(engine="llama.cpp", **options).parts


@pytest.mark.parametrize("kept", OF_32)
def test_every_format_of_the_cache(kept: str) -> None:
    found = parts("llama-3-8b", seq=LENGTH, kv_dtype=kept)["kv_cache"]
    assert found == 2 * NUMBERS // 32 * OF_32[kept]


@pytest.mark.parametrize(("keys", "values"), [("q8_0", "q4_0"), ("f16", "q5_1"), ("q4_1", "bf16")])
def test_keys_and_values_apart(keys: str, values: str) -> None:
    """By one option, or by llama.cpp's own two."""
    expected = NUMBERS // 32 * (OF_32[keys] + OF_32[values])
    assert parts("llama-3-8b", seq=LENGTH, kv_dtype=f"{keys},{values}")["kv_cache"] == expected
    assert parts("llama-3-8b", seq=LENGTH, cache_type_k=keys, cache_type_v=values)["kv_cache"] == expected


def test_keys_alone_leave_values_in_16_bits() -> None:
    assert parts("llama-3-8b", seq=LENGTH, cache_type_k="q8_0")["kv_cache"] == NUMBERS // 32 * (34 + 64)


def test_the_cache_of_a_model_in_32_bits_has_16() -> None:
    """-ctk and -ctv are f16 unless said, whatever the model's files have."""
    assert parts("gpt2", seq=1024)["kv_cache"] == 1024 * 12 * 2 * 768 * 2


@pytest.mark.parametrize(
    ("name", "states"),
    [("qwen3-next-80b-a3b", 75.38), ("mamba-130m", (24 * 1536 * (16 + 3) * 4) / MIB)],
)
def test_recurrent_states_are_fp32(name: str, states: float) -> None:
    """`RS buffer size = 75.38 MiB` of Qwen3 Next; Mamba keeps 16 numbers and 3 positions for each of 1,536 channels."""
    assert parts(name, seq=4096)["state"] / MIB == pytest.approx(states, abs=0.01)


GLM = {
    "vocab": 151_552,
    "d_model": 6144,
    "heads": 48,
    "kv_heads": 2,
    "attention": {"head_dim": 128},
    "bias": False,
    "ffn": {"width": 23_040, "act": "silu", "gated": True},
    "norm": "rms",
    "position": {"kind": "rope"},
    "decoder": 61,
    "head": "lm",
}


def test_scores_without_flash_attention() -> None:
    """GLM Z1 32B with `flash_attn = 0`, `n_ctx = 8192`, `n_ubatch = 512`: CUDA0 compute buffer size = 832.00 MiB, of
    which scores are 48 · 512 · 8,192 · 4 bytes."""
    report = load(GLM).memory(engine="llama.cpp@b5000", seq=8192, attention="eager")
    assert report.parts["activations"] > 48 * 512 * 8192 * 4
    assert report.parts["activations"] / MIB == pytest.approx(832, rel=0.02)


def test_scores_grow_with_the_context_and_flash_attention_stores_none() -> None:
    eager = [parts("llama-3-8b", seq=seq, attention="eager")["activations"] for seq in (16_384, 32_768)]
    assert eager[1] - eager[0] == 16_384 * 512 * 4 * (32 + 1)  # scores of 32 heads and the mask
    flash = [parts("llama-3-8b", seq=seq, attention="flash")["activations"] for seq in (131_072, 262_144)]
    assert flash[1] - flash[0] <= 131_072 * 512 * 2


def test_several_devices_have_copies_of_what_comes_in() -> None:
    """SmolLM2 135M on two GPUs, b9665, `n_ctx = 2048`, `sched copies = 4`: CUDA0 and CUDA1 compute buffer = 24.91 MiB
    each, CUDA_Host 10.30: four masks of 2 MiB, and four tensors of the stream of 1.125 MiB more than on one GPU."""
    alone, both = (_deployed(name) for name in ("rtx-3090", "2xrtx-3090"))
    assert both.parts["activations"] - alone.parts["activations"] == 3 * (512 * 2048 * 2 + 512 * 576 * 4)
    assert both.parts["activations"] / MIB == pytest.approx(24.91, rel=0.01)
    assert both.host and both.host.each["buffers"] / MIB == pytest.approx(10.30, rel=0.01)


def _deployed(devices: str) -> Peak:
    found = group(devices)
    asked = Options.of("memory", {"engine": "llama.cpp", "seq": 2048, "weights": "q4_k_m"})
    asked = replace(asked, device=DeviceFacts.of(found.first, found))
    return peak(deploy(load("smollm2-135m"), asked), Sizes(batch=1, seq=2048))


def test_a_prompt_in_pieces_has_scores_with_all_that_was_read() -> None:
    """By PyTorch's eager attention too: 512 tokens look at 4,096, not at 512."""
    whole, half = (load("gpt2-xl").memory(seq=seq, prefill=256, attention="eager") for seq in (1024, 512))
    more = whole.parts["activations"] - half.parts["activations"]
    assert more >= 25 * 256 * 512 * 4  # heads, tokens, positions, fp32


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ("llama-3-8b -ctv q4_0 --attention eager", "computes with values in q4_0 by flash attention alone"),
        ("phi-2 --kv-dtype q8_0", "stores keys in Q8_0 in blocks of 32, and a head has 80"),
        ("deepseek-v2-lite --kv-dtype q8_0,q4_0", "caches keys and values as one latent vector"),
        ("mamba-130m --state-dtype bf16", "llama.cpp keeps recurrent states in fp32"),
        ("mamba-130m -ctk q8_0", "this model has no KV cache, but a recurrent state"),
        ("llama-3-8b --kv-dtype q8_0,q4_0,f16", "expected one format, or two"),
        ("llama-3-8b --kv-dtype q8_0 -ctk f16", "--kv-dtype names a format already"),
        ("llama-3-8b -ctv q6_k", "llama.cpp has no KV cache in q6_k"),
    ],
)
def test_refused(run: Run, arguments: str, fact: str) -> None:
    found = run("memory", *arguments.split(), "--engine", "llama.cpp", columns=200)
    assert (found.code, fact in found.err) == (2, True)


@pytest.mark.parametrize("engine", ["vllm", "sglang", "tensorrt-llm", "mlx", "ollama"])
def test_most_engines_have_one_format_for_both(engine: str) -> None:
    with pytest.raises(InputError, match="one format for keys and values"):
        load("llama-3-8b").memory(engine=engine, kv_dtype="fp16,bf16" if engine != "ollama" else "q8_0,fp16")


def test_the_first_line_names_both(run: Run) -> None:
    said = run("memory", "llama-3-8b", "--engine", "llama.cpp", "-ctk", "q8_0", "-ctv", "Q4_0", columns=200).out
    assert "q8_0 keys and q4_0 values" in said.splitlines()[0]
