"""Messages and logs as programs write them, with the figures of a test."""

from __future__ import annotations

GIB, MIB = 2**30, 2**20
STEP = 2 * MIB  # PyTorch asks a device for whole steps of 10 MiB and more


def written(size: float) -> str:
    """As PyTorch's format_size has it."""
    for unit, name in ((GIB, "GiB"), (MIB, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size:.0f} bytes"


def asked_for(tensor: int) -> str:
    """What PyTorch's message says of a tensor of 10 MiB and more: rounded up, then in two digits."""
    return written(-(-tensor // STEP) * STEP)


def cuda_message(tried: str, allocated: str = "20.00 GiB", capacity: str = "23.69 GiB") -> str:
    return (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {tried}. GPU 0 has a total capacity of "
        f"{capacity} of which 1.25 GiB is free. Including non-PyTorch memory, this process has 22.43 GiB memory in "
        f"use. Of the allocated memory {allocated} is allocated by PyTorch, and 512.00 MiB is reserved by PyTorch but "
        "unallocated."
    )


def vllm_log(*lines: str, model: str = "meta-llama/Llama-3.1-8B", length: int = 16_384) -> str:
    config = (
        f"Initializing a V1 LLM engine (v0.11.0) with config: model='{model}', speculative_config=None, "
        f"dtype=torch.bfloat16, max_seq_len={length}, tensor_parallel_size=1, pipeline_parallel_size=1, "
        "quantization=None, enforce_eager=True, kv_cache_dtype=auto, device_config=cuda"
    )
    return "\n".join(f"(EngineCore_DP0 pid=7) INFO 10-02 10:00:09 [core.py:77] {line}" for line in (config, *lines))


def llama_log(*lines: str, length: int = 131_072) -> str:
    return "\n".join(
        (
            "ggml_cuda_init: found 1 CUDA devices:",
            "  Device 0: NVIDIA GeForce RTX 3060, compute capability 8.6, VMM: yes",
            "build: 5921 (abcdef12) with cc for x86_64-linux-gnu",
            "llama_model_loader: loaded meta data with 33 key-value pairs and 292 tensors from model.gguf",
            "llama_model_loader: - kv   2:       general.name str              = Meta Llama 3.1 8B Instruct",
            "print_info: file type   = Q4_K - Medium",
            "load_tensors: offloaded 33/33 layers to GPU",
            "llama_context: n_seq_max     = 1",
            f"llama_context: n_ctx         = {length}",
            "llama_context: n_ubatch      = 512",
            *lines,
        )
    )
