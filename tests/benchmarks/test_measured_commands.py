"""The commands that cases become: exactly what a user would type from what the case says."""

from __future__ import annotations

from typing import Any

import pytest
from measured_names import Configs
from measured_rows import Row, rows

NO_CONFIGS = Configs({})
TITAN = "https://github.com/pytorch/torchtitan"


def row(case: dict[str, Any], asking: Configs = NO_CONFIGS) -> Row:
    """Its first figure."""
    return rows({"id": "one", "source": "https://example.org/a-log", "trust": "A", **case}, asking)[0]


def typed(**case: Any) -> str:
    found = row(case)
    assert found.typed.command, found.typed.refused
    return found.typed.command.removeprefix("archcalc ")


def trained(measured: dict[str, Any] | None = None, **case: Any) -> dict[str, Any]:
    said = {"kind": "train_peak_memory", "model": "llama-3.2-1b", "batch": 2, "seq": 512, "measured": measured or PEAK}
    return {**said, **case}


PEAK = {"peak_memory_gib": 10.0, "metric": "torch.cuda.max_memory_allocated"}


def test_a_start_up_of_vllm() -> None:
    """Its version, the device and every flag that the log says; nothing that it leaves to the release."""
    case = {"kind": "vllm_startup", "model": "meta-llama/Llama-3.2-1B-Instruct", "dtype": "bfloat16", "seq": 8192}
    flags = {"engine": "vLLM v0.12.0 V1", "max_num_seqs": 64, "gpu_memory_utilization": 0.95, "enforce_eager": True}
    case |= {
        "gpu": "2x RTX 3090 24GB (23.58 GiB)",
        "parallelism": {"tp": 2, "pp": 1, "dp": 1},
        "kv_cache_dtype": "auto",
    }
    pool = {"available_kv_gib": 18.0}
    asked = "--engine vllm@0.12.0 --gpu-memory-utilization 0.95 --max-num-seqs 64 --enforce-eager --tp 2"
    assert typed(**case, flags=flags, measured=pool) == (
        f"fit meta-llama/Llama-3.2-1B-Instruct --seq 8192 --gpu 'RTX 3090 24GB' {asked}"
    )
    usual = {"engine": "vLLM v0.12.0 V1", "gpu_memory_utilization_default": 0.9}
    assert "utilization" not in typed(**case, flags=usual, measured=pool)


@pytest.mark.parametrize(
    ("model", "quantisation", "weights"),
    [
        ("RedHatAI/Llama-3.2-1B-Instruct-FP8-dynamic", "compressed-tensors", "fp8"),
        ("casperhansen/llama-3.2-1b-awq", "awq", "int4"),
        ("llama-3.2-1b", "bitsandbytes", "nf4"),
        ("Llama-3.2-1B-Instruct-Q8_0.gguf", "gguf", "Q8_0"),
        ("llama-3.2-1b", None, None),
        ("openai/gpt-oss-20b", "mxfp4", None),  # as it is stored
    ],
)
def test_the_format_of_weights_is_typed_unless_it_is_the_models_own(
    model: str, quantisation: Any, weights: Any
) -> None:
    case = {"kind": "vllm_startup", "quantisation": quantisation, "measured": {"weights_gib_per_gpu": 1.0}}
    command = typed(**case, model=model, flags={"engine": "vLLM v0.12.0"})
    assert (f"--weights {weights}" in command) if weights else ("--weights" not in command)


def test_other_engines() -> None:
    sglang = {
        "kind": "sglang_startup",
        "model": "llama-3.2-1b",
        "gpu": "RTX 4090 24GB",
        "measured": {"k_gib": 5, "v_gib": 5},
    }
    flags = {"engine": "SGLang", "version": "0.5.12 (rebase)", "mem_fraction_static": 0.85, "context_len": 4096}
    asked = "--engine sglang@0.5.12 --mem-fraction-static 0.85"
    assert typed(**sglang, flags=flags) == f"fit llama-3.2-1b --seq 4096 --gpu 'RTX 4090 24GB' {asked}"
    mlx = {
        "kind": "inference_peak_memory",
        "model": "Llama 3.2 1B 4-bit",
        "quantisation": "4-bit",
        "seq": 2048,
        "batch": 1,
    }
    mlx |= {"flags": {"engine": "MLX (mlx-lm)", "prefill_step_size": 512}, "measured": {"peak_memory": 2, "unit": "GB"}}
    assert typed(**mlx) == "memory 'Llama 3.2 1B' --seq 2048 --engine mlx --weights 4bit --prefill 512"
    lmdeploy = {
        "kind": "lmdeploy_startup",
        "model": "qwen3-8b",
        "measured": {"block_size_mib": 9, "max_block_count": 863, "kv_tokens": 55232},
    }
    assert row({**lmdeploy, "gpu": "A100 80GB"}).measured == pytest.approx(9 * 863 / 1024)


def test_a_log_of_llama_cpp_with_slots() -> None:
    """Eight slots of 4,096 tokens are eight sequences; layers that stay on the host are those that -ngl leaves."""
    flags = {
        "n_ctx": 32768,
        "n_seq_max": 8,
        "n_ctx_seq": 4096,
        "n_ubatch": 512,
        "offloaded": "10/17",
        "flash_attn": "enabled",
    }
    case = {
        "kind": "llamacpp_load_log",
        "model": "llama-3.2-1b",
        "dtype": "ggml",
        "quantisation": "Q4_K - Medium",
        "seq": 32768,
    }
    command = typed(
        **case, kv_cache_dtype="q8_0", flags={**flags, "build": "b9010-d05"}, measured={"kv_cache_mib": 100.0}
    )
    sizes = "memory llama-3.2-1b --batch 8 --seq 4096 --engine llama.cpp@9010 --weights 'Q4_K - Medium' --kv-dtype q8_0"
    assert command == f"{sizes} --attention flash --ubatch-size 512 --ngl 10"


def test_qlora_of_the_trainer() -> None:
    """The method decides what is in which format: nobody types bf16, nor the code that is usual."""
    flags = {
        "method": "QLoRA",
        "lora_rank": 16,
        "lora_targets": "q,k,v,o",
        "recompute": "full",
        "optimizer": "adamw_bnb_8bit",
    }
    flags |= {"attention": "flash_attention_2", "code": "HF Trainer via trl SFTTrainer"}
    command = typed(**trained(dtype="bf16, nf4 base", gpu="A100 80GB", parallelism={"fsdp2": 2}, flags=flags))
    adapters = (
        "--lora 16 --lora-targets q,k,v,out --weights nf4 --recompute full --optimizer adam8bit --attention flash"
    )
    assert command == (
        f"memory llama-3.2-1b --mode train --batch 2 --seq 512 {adapters} --code trl --dp 2 --zero 3 --gpu 'A100 80GB'"
    )


def test_fine_tuning_of_an_encoder() -> None:
    """By its name, with the sizes that the case says."""
    flags = {"method": "full", "recompute": "none", "optimizer": "adamw_torch_fused", "code": "HF Trainer"}
    found = row(trained(model="bert-base-uncased", dtype="fp16 autocast", flags=flags, batch=32, seq=128))
    options = "--mode train --batch 32 --seq 128 --precision autocast --recompute none --optimizer adamw-fused"
    assert found.typed.command == f"archcalc memory bert-base-uncased {options}"
    assert isinstance(found.typed.predicted, float)
    assert found.typed.predicted * 2**30 > 16 * 109_514_298  # fp32 weights, gradients and two states


@pytest.mark.parametrize(
    ("dtype", "precision"),
    [
        ("bf16", None),
        ("bf16-true", "bf16"),
        ("amp_bf16", "autocast"),
        ("bf16 compute, fp32 params/optimizer/reduce", "mixed"),
        ("bf16 weights, gradients and Adam states (mixed_precision no)", "bf16"),
        ("float32", "fp32"),
        ("fp8", "fp8"),
    ],
)
def test_a_precision_is_typed_where_words_leave_no_choice(dtype: str, precision: str | None) -> None:
    command = typed(**trained(dtype=dtype, source=TITAN, parallelism={"fsdp": 8}))
    assert (f"--precision {precision}" in command) if precision else ("--precision" not in command)


def test_a_code_is_typed_with_the_version_that_its_source_states() -> None:
    """Whoever runs a code knows which; without it the question is about the code of today."""
    case = trained(source=f"{TITAN} benchmarks/llama3_h100_202412_torchtitan.md Table 1", parallelism={"fsdp": 8})
    found = row(case)
    assert found.typed.command and "--code torchtitan@2024-12 " in found.typed.command
    assert found.today.command and "--code torchtitan " in found.today.command
    assert found.typed.predicted != found.today.predicted  # selective checkpointing kept more by then
    undated = row(trained(source=TITAN, parallelism={"fsdp": 8}))
    assert undated.typed == undated.today


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"method": "DoRA r32 q,v"}, "no option says: DoRA"),
        ({"method": "LoRA"}, "rank"),
        ({"recompute": "selective: layernorm, moe_act"}, "checkpointing of chosen modules"),
        ({"optim_in_bwd": True}, "inside backward"),
    ],
)
def test_what_no_option_says_is_not_asked(flags: dict[str, Any], told: str) -> None:
    found = row(trained(flags=flags))
    assert found.typed.command is None and told in str(found.typed.refused)


@pytest.mark.parametrize(
    "words", ["DeepSpeed, transformers 4.51.3, expandable_segments", "transformers, expandable segments"]
)
def test_an_allocator_is_typed_where_the_case_names_it(words: str) -> None:
    assert " --allocator expandable" in typed(**trained(flags={"code": words}))
    assert "--allocator" not in typed(**trained(flags={"code": words.rpartition(",")[0]}))


def test_a_month_stands_for_the_release_of_the_time() -> None:
    case = {"kind": "sglang_startup", "model": "Llama-3.1-8B", "gpu": "80 GB GPU", "measured": {"kv_gib": 54.26}}
    assert "--engine sglang@0.4.1" in typed(**case, flags={"engine": "SGLang", "version": "Jan 2025"})
