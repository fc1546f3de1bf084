"""What inference engines print: weights, pools, caches, buffers and peaks, as figures of a case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from measured_cases import Case, is_fork
from measured_quantities import Wanted
from measured_units import MIB, UNITS, Inexpressible, number, size
from measured_weights import file_format, is_own_mixture
from measured_words import option

BY_TYPE = re.compile(r"(kv_|k_)?(f16|f32|bf16|q\d_\d)_(\w+)")  # kv_f16_mib, k_q8_0_mib, f16_mib


def started(case: Case) -> Iterator[Wanted]:
    """A serving engine: weights, the pool that it gives to the cache, and what a token takes of it."""
    measured = case["measured"]
    if (held := size(measured, "weights")) and held > 0:
        yield Wanted("weights", held)
    if (room := _pool(measured)) and room > 0:
        fixed = "a pool that is limited by a number of tokens" if case["flags"].get("max_total_tokens") else ""
        yield Wanted("pool", room, why_not=fixed)
    tokens = number(measured.get("kv_cache_tokens") or measured.get("kv_tokens"))
    cache = size(measured, "available_kv") or _cache(measured)
    if cache and tokens and "swa_tokens" not in measured:
        yield Wanted("token", cache / tokens)
    if measured.get("error") or "refused" in str(case["flags"].get("note")):
        yield Wanted("verdict", "OOM")


def _pool(measured: dict[str, Any]) -> float | None:
    """With recurrent states, which take their part of it."""
    if room := size(measured, "available_kv", "swa_pool"):
        return room
    cache = _cache(measured)
    states = sum(size(measured, name) or 0 for name in ("conv_state", "ssm_state"))
    return cache + states if cache else None


def _cache(measured: dict[str, Any]) -> float | None:
    """Keys and values, or blocks of both."""
    if whole := size(measured, "kv"):
        return whole
    if (block := size(measured, "block_size")) and measured.get("max_block_count"):
        return block * number(measured["max_block_count"])
    halves = [size(measured, name) for name in ("k", "v")]
    return sum(half or 0 for half in halves) if all(halves) else None


def loaded(case: Case) -> Iterator[Wanted]:
    """llama.cpp: the file, caches by format, recurrent states, and compute buffers."""
    measured = case["measured"]
    if (file := size(measured, "model_size")) and file > 0:
        yield Wanted("file", file, why_not=_unknown_format(case))
    yield from _caches(case)
    if (states := size(measured, "rs")) and states > 0:
        yield Wanted("state", states)
    yield from _buffers(case)


def _buffers(case: Case) -> Iterator[Wanted]:
    """Compute buffers: of one device, and of the host that feeds it; of a CPU alone, its own."""
    devices, hosts = (_by_name(case, name) for name in ("compute_mib", "host_compute_mib"))
    why_not = "layers on several devices, which `memory` does not deal out" if len(devices) > 1 else ""
    why_not = "compute buffers of ik_llama.cpp, whose graphs are its own" if is_fork(case) else why_not
    if devices:
        yield Wanted("compute", max(devices.values()) * MIB, why_not=why_not)
    fed = next((size for name, size in hosts.items() if name.endswith("_Host")), hosts.get("CPU"))
    if fed and devices:
        copied = "copies for devices in turn" if number(case["flags"].get("n_copies")) > 1 else ""
        yield Wanted("host_buffer", fed * MIB, why_not=why_not if is_fork(case) else copied)
    elif fed:
        yield Wanted("compute", fed * MIB, {"gpu": "CPU", "ngl": None}, why_not=why_not)


def _by_name(case: Case, name: str) -> dict[str, float]:
    """By the name of the device; a number alone is one's."""
    found = case["measured"].get(name) or {}
    return {one: float(size) for one, size in (found if isinstance(found, dict) else {"": found}).items()}


def _unknown_format(case: Case) -> str:
    """Why the size of a file cannot be asked; nothing where it can."""
    if is_own_mixture(case):
        return "a file mixed by its maker's own recipe"
    try:
        file_format(case)
    except Inexpressible as why:
        return str(why)
    return ""


def _caches(case: Case) -> Iterator[Wanted]:
    measured = case["measured"]
    typed = {key: found for key in measured if (found := BY_TYPE.fullmatch(key)) and found[3] in UNITS}
    for key, found in typed.items():
        part = 0.5 if found[1] == "k_" else 1  # keys alone
        kind = option("kv", found[2]) or "fp16"
        yield Wanted("cache", float(measured[key]) * UNITS[found[3]], {"kv-dtype": kind}, part)
    windowed, full = size(measured, "kv_swa"), size(measured, "kv_full")
    whole = windowed + full if windowed and full else size(measured, "kv_cache", "kv")
    if whole and not typed:
        twice = "kv^T (" in str(case["flags"].get("kv_types"))
        yield Wanted("cache", whole, why_not="a latent cache that is kept twice, once transposed" if twice else "")


def answered(case: Case) -> Iterator[Wanted]:
    """The peak of an engine without a pool."""
    if taken := size(case["measured"], "peak_memory", "max_memory_allocated", "peak"):
        yield Wanted("inference", taken)
    if held := size(case["measured"], "weights"):
        yield Wanted("weights", held)
