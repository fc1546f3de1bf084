"""Which engine answers, and how much of a GPU and of a step it takes: options by the engines' own names."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.run.option_words import BYTES, FIT, INFERENCE
from archcalc.spec.option import option
from archcalc.spec.option_checks import flag, fraction, size, word


@dataclass(frozen=True)
class ServingOptions:
    """Options of inference engines."""

    engine: str | None = option(
        "Inference engine: vllm, sglang, tensorrt-llm, llama.cpp, ollama, mlx, transformers or plain; of a version, "
        "vllm@0.11.",
        word,
        metavar="NAME[@VERSION]",
        modes=INFERENCE,
        commands=BYTES,
    )
    gpu_memory_utilization: float | None = option(
        "Share of a GPU's memory that a serving engine takes: 0.9, or 90%.",
        fraction,
        metavar="SHARE",
        modes=INFERENCE,
        commands=FIT,
        also=("mem_fraction_static", "free_gpu_memory_fraction", "kv_cache_free_gpu_memory_fraction"),
    )
    max_num_seqs: int | None = option(
        "Requests that a serving engine computes at once, at most.",
        size,
        metavar="N",
        modes=INFERENCE,
        commands=BYTES,
        also=("max_running_requests", "max_batch_size"),
    )
    enforce_eager: bool | None = option(
        "Serving engine without CUDA graphs.",
        flag,
        modes=INFERENCE,
        commands=BYTES,
        also=("disable_cuda_graph",),
    )
