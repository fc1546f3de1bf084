"""Caches that vLLM and llama.cpp print, and what archcalc says of the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from measured_asked import GIB, MIB, Pair, inferred
from measured_models import Case, Inexpressible, described


def vllm_cache(case: Case) -> Iterator[Pair]:
    """Bytes for each token; what a sparse attention's indexer keeps is added as the case gives it."""
    measured, tokens = case["measured"], case["measured"].get("kv_cache_tokens")
    if not tokens:
        return
    if "PP=2" in str(case.get("gpu")):
        raise Inexpressible("pipeline parallelism")
    dtype = "fp8" if str(case.get("kv_cache_dtype")).startswith("fp8") else None
    report = inferred(case, described(case), kv_rule="full", kv_dtype=dtype)
    length, arch = report.lengths["seq"], case["arch"]
    indexer = arch.get("indexer_bytes_per_token_layer", 0) * arch.get("layers", 0)
    kept = report.parts["kv_cache"] / length + indexer
    yield "KV bytes per token", measured["available_kv_gib"] * GIB / tokens, kept


# llama.cpp prints to the hundredth of a MiB


def llamacpp_cache(case: Case) -> Iterator[Pair]:
    measured = case["measured"]
    if "kv_f16_mib" in measured or "f16_mib" in measured:
        yield from _by_type(case)
    elif "kv_swa_mib" in measured:
        yield from _by_layer(case)
    elif "kv_cache_mib" in measured:
        yield "KV cache MiB", measured["kv_cache_mib"], _cache(case, *_types(case))


def _types(case: Case) -> tuple[str, str]:
    """The formats of keys and values, as the log names them."""
    said = case["flags"].get("kv_types", "")
    if "kv^T (" in said:
        raise Inexpressible("a latent cache that is kept twice, once transposed")
    latent = re.search(r"c\^KV \((\w+)\)", said)
    formats = latent.groups() * 2 if latent else re.findall(r"[KV] \((\w+)\)", said)
    usual = "q8_0" if case["id"].endswith("-q8") else "f16"
    keys, values = formats or (usual, usual)
    return keys, values


def _cache(case: Case, keys: str, values: str) -> float:
    """In MiB: half of a cache whose keys are as wide as here, and half of one whose values are."""
    return sum(_half(case, kind, side) for kind, side in ((keys, "head_dim_k"), (values, "head_dim_v"))) / MIB


def _half(case: Case, kind: str, side: str) -> float:
    arch = case["arch"]
    asked = {**case, "arch": {**arch, "head_dim": arch[side]}} if side in arch else case
    return inferred(case, described(asked), kv_rule="full", kv_dtype=_named(kind)).parts["kv_cache"] / 2


def _named(kind: str) -> str:
    return {"f16": "fp16", "f32": "fp32"}.get(kind, kind)


def _by_type(case: Case) -> Iterator[Pair]:
    for key, mib in case["measured"].items():
        kind = key.removesuffix("_mib").removeprefix("kv_").removeprefix("k_")
        half = 2 if key.startswith("k_") else 1
        yield f"{kind} cache MiB", mib, _cache(case, kind, kind) / half


def _by_layer(case: Case) -> Iterator[Pair]:
    """Full and windowed blocks in turns, half of them each; a windowed one keeps as many cells as the log says."""
    flags, measured = case["flags"], case["measured"]
    streams = 1 if flags.get("kv_unified", True) else flags["n_seq"]
    everywhere = {**case, "arch": {**case["arch"], "sliding_window": None}}
    yield "full blocks MiB", measured["kv_full_mib"], _cache(everywhere, "f16", "f16") / 2
    cells = {**everywhere, "seq": measured["swa_cells"]}
    yield "windowed blocks MiB", measured["kv_swa_mib"], streams * _cache(cells, "f16", "f16") / 2
