"""Caches that vLLM and llama.cpp print, and what archcalc says of the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from measured_asked import Pair, asked, inferred
from measured_codes import Case
from measured_models import described
from measured_units import MIB, UNITS, Inexpressible, number, size
from measured_vllm import Log, laid_out

from archcalc.analyze.memory.vllm_groups import Layout

CACHES = ("kv_cache", "kv")
BY_TYPE = re.compile(r"(kv_|k_)?(f16|f32|bf16|q\d_\d)_(\w+)")  # kv_f16_mib, k_q8_0_mib, f16_mib


def vllm_cache(case: Case) -> Iterator[Pair]:
    """Bytes for each token: the memory that vLLM prints by the tokens, and by those that it would print here."""
    tokens, room = number(case["measured"].get("kv_cache_tokens")), size(case["measured"], "available_kv")
    if not tokens or not room:
        return
    if re.search(r"PP=[2-9]", str(case.get("gpu"))):
        raise Inexpressible("pipeline parallelism")
    dtype = "fp8" if str(case.get("kv_cache_dtype")).startswith("fp8") else None
    log = Log.of(case)
    layout = laid_out(asked(case, described(case), kv_rule="vllm", kv_dtype=dtype), log.length)
    yield "KV bytes per token", room / tokens, room / log.tokens(_indexed(case, layout), room, tokens)


def _indexed(case: Case, layout: Layout) -> Layout:
    """What a sparse attention's indexer keeps is added as the case gives it: as wide a layer for each of the others."""
    each, layers = number(case["arch"].get("indexer_bytes_per_token_layer")), number(case["arch"].get("layers"))
    if not each:
        return layout
    like = layout.placed[0]
    of_a_token = replace(like.layer, bytes=each)
    indexer = replace(like, layer=of_a_token, layers=layers, places=layers, page=each * like.tokens)
    return replace(layout, placed=(*layout.placed, indexer))


# llama.cpp prints to the hundredth of a MiB


def llamacpp_cache(case: Case) -> Iterator[Pair]:
    measured = case["measured"]
    by_type = {key: found for key in measured if (found := BY_TYPE.fullmatch(key)) and found[3] in UNITS}
    if by_type:
        yield from _by_type(case, by_type)
    elif size(measured, "kv_swa") is not None:
        yield from _by_layer(case)
    elif (printed := size(measured, *CACHES)) is not None:
        yield "KV cache MiB", printed / MIB, _cache(case, *_types(case))


def _types(case: Case) -> tuple[str, str]:
    """The formats of keys and values: as the log names them, else as the case does, else llama.cpp's own."""
    said, usual = str(case["flags"].get("kv_types") or ""), _usual(case)
    if "kv^T (" in said:
        raise Inexpressible("a latent cache that is kept twice, once transposed")
    latent = re.search(r"c\^KV \((\w+)\)", said)
    formats = latent.groups() * 2 if latent else re.findall(r"\b[KV] \((\w+)\)", said)
    keys, values = formats or (usual, usual)
    return keys, values


def _usual(case: Case) -> str:
    said = case.get("kv_cache_dtype") or case["flags"].get("kv") or case["flags"].get("cache_type_k")
    return "f16" if said in (None, "auto") else str(said)


def _cache(case: Case, keys: str, values: str) -> float:
    """In MiB: half of a cache whose keys are as wide as here, and half of one whose values are."""
    return sum(_half(case, kind, side) for kind, side in ((keys, "head_dim_k"), (values, "head_dim_v"))) / MIB


def _half(case: Case, kind: str, side: str) -> float:
    arch = case["arch"]
    asked = {**case, "arch": {**arch, "head_dim": arch[side]}} if arch.get(side) else case
    return inferred(case, described(asked), kv_rule="full", kv_dtype=_named(kind)).parts["kv_cache"] / 2


def _named(kind: str) -> str:
    return {"f16": "fp16", "f32": "fp32"}.get(kind, kind)


def _by_type(case: Case, keys: dict[str, re.Match[str]]) -> Iterator[Pair]:
    for key, found in keys.items():
        parts = 2 if found[1] == "k_" else 1  # keys alone
        printed = float(case["measured"][key]) * UNITS[found[3]] / MIB
        yield f"{found[2]} cache MiB", printed, _cache(case, found[2], found[2]) / parts


def _by_layer(case: Case) -> Iterator[Pair]:
    """Full and windowed blocks in turns, half of them each; a windowed one keeps as many cells as the log says."""
    flags, measured, types = case["flags"], case["measured"], _types(case)
    full, windowed = size(measured, "kv_full"), size(measured, "kv_swa")
    streams = 1 if flags.get("kv_unified", True) else number(flags["n_seq"])
    everywhere = {**case, "arch": {**case["arch"], "sliding_window": 0}}
    if full is not None:
        yield "full blocks MiB", full / MIB, _cache(everywhere, *types) / 2
    if windowed is not None:
        cells = {**everywhere, "seq": measured["swa_cells"]}
        yield "windowed blocks MiB", windowed / MIB, streams * _cache(cells, *types) / 2
