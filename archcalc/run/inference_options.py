"""How a model answers: its cache, and how its prompt is read."""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.run.option_words import BYTES, INFERENCE, KV_RULES
from archcalc.spec.option import option
from archcalc.spec.option_checks import size, word


@dataclass(frozen=True)
class InferenceOptions:
    """Options of inference."""

    kv_dtype: str | None = option(
        "KV cache format: bf16, fp8, q8_0, …; q8_0,q4_0 for keys and values.",
        word,
        metavar="FORMAT",
        modes=INFERENCE,
        also=("kv_cache_dtype", "cache_type"),
    )
    cache_type_k: str | None = option(
        "Format of keys in the KV cache, where values have another: q8_0, f16, …",
        word,
        metavar="FORMAT",
        modes=INFERENCE,
        one_dash=("-ctk",),
    )
    cache_type_v: str | None = option(
        "Format of values in the KV cache, where keys have another.",
        word,
        metavar="FORMAT",
        modes=INFERENCE,
        one_dash=("-ctv",),
    )
    kv_rule: str | None = option(
        "KV cache of sliding-window layers: window, window-1, window+batch, full; vllm: of all layers, in blocks.",
        word,
        choices=tuple(KV_RULES),
        metavar="RULE",
        modes=INFERENCE,
        commands=BYTES,
    )
    state_dtype: str | None = option(
        "Format of recurrent states (Mamba, delta nets): bf16, fp32, …",
        word,
        metavar="FORMAT",
        modes=INFERENCE,
        also=("mamba_cache_dtype", "mamba_ssm_cache_dtype"),
    )
    prefill: int | None = option(
        "Chunked prefill: read the prompt in chunks of this many tokens.",
        size,
        metavar="SIZE",
        modes=("infer", "prefill"),
        commands=BYTES,
        also=("prefill_chunk_size", "max_num_batched_tokens", "ubatch_size"),
    )
