"""What a case has measured: every figure that archcalc has an answer to, in bytes or as a count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from measured_cases import Case
from measured_codes import FILE, name_of
from measured_serving import engine_name
from measured_units import GB, GIB, MIB, UNITS, Inexpressible, number, size
from measured_weights import file_format, is_own_mixture
from measured_words import option

TRAINING, INFERENCE = "training peak", "inference peak"  # what the names of such classes begin with
BANDED = ("allocated", "reserved", "device", "unsaid", "inference", "pool")  # quantities that an answer states a band for


@dataclass(frozen=True)
class Quantity:
    """What is compared: its name in tables, the unit that it is shown in, and the median error that is promised."""

    name: str
    unit: str
    scale: float
    target: float | None = None


QUANTITIES = {
    "parameters": Quantity("parameters", "", 1, 0),
    "token": Quantity("KV cache per token", "bytes", 1, 0.005),
    "pool": Quantity("KV pool", "GiB", GIB, 0.1),
    "cache": Quantity("KV cache", "MiB", MIB, 0),
    "state": Quantity("recurrent states", "MiB", MIB, 0.005),
    "compute": Quantity("compute buffer", "MiB", MIB),
    "weights": Quantity("weights", "GiB", GIB, 0.01),
    "file": Quantity("weights, GGUF", "GiB", GIB, 0.01),
    "flops": Quantity("training FLOPs per token", "", 1),
    "rule": Quantity("6ND of a training run", "", 1),
    "allocated": Quantity(f"{TRAINING}, allocated", "GiB", GIB),
    "reserved": Quantity(f"{TRAINING}, reserved", "GiB", GIB),
    "device": Quantity(f"{TRAINING}, on the device", "GiB", GIB),
    "unsaid": Quantity(f"{TRAINING}, allocated or reserved is not said", "GiB", GIB),
    "host": Quantity("host RAM of training", "GiB", GIB),
    "inference": Quantity(INFERENCE, "GB", GB),
    "verdict": Quantity("verdict", "", 1),
}


@dataclass(frozen=True)
class Wanted:
    """One measured figure; `options` are of this figure alone, `part` is its share of what archcalc gives."""

    quantity: str
    measured: float | str
    options: dict[str, Any] = field(default_factory=dict)
    part: float = 1
    why_not: str = ""

    def of(self, runner: str | None) -> str:
        """The name of its class; engines differ, training codes are told apart in the classes of runs."""
        name = QUANTITIES[self.quantity].name
        return f"{name}, {runner}" if self.quantity in ENGINES and runner else name


ENGINES = ("token", "pool", "cache", "state", "compute", "weights", "inference")


def wanted(case: Case) -> list[Wanted]:
    """Every figure of a case."""
    found = [one for kind, figures in KINDS if kind.search(case["kind"]) for one in figures(case)]
    return found + ([Wanted("parameters", float(count))] if (count := case["measured"].get("params")) else [])


# Training


def trained(case: Case) -> Iterator[Wanted]:
    measured = case["measured"]
    if measured.get("verdict"):
        yield Wanted("verdict", str(measured["verdict"]))
    if "oom" in str(measured.get("verdict")).lower():  # what nvidia-smi shows then is the card
        return
    first = number(measured.get("step") or case["flags"].get("step")) == 1
    for quantity, taken in _peaks(case):
        why = "of the first step, before Adam's states exist: no command prints it" if first else ""
        yield Wanted(quantity, taken, why_not=why)


def _peaks(case: Case) -> Iterator[tuple[str, float]]:
    """By the names under which tables and logs print them."""
    measured = case["measured"]
    for quantity in ("allocated", "active", "reserved"):
        names = (f"peak_{quantity}", f"peak_memory_{quantity}", f"max_memory_{quantity}")
        if taken := size(measured, *names):
            yield quantity.replace("active", "allocated"), taken
    if taken := size(measured, "nvidia_smi"):
        yield "device", taken
    if taken := size(measured, "host_rss", "peak_rss", "rss", "peak_host"):
        yield "host", taken
    if taken := size(measured, "peak_memory", "max_memory", "peak", "memory"):
        yield _counted(case), taken


def _counted(case: Case) -> str:
    """As the case says, else as its code prints."""
    said = case["measured"].get("metric") or FILE["memory"].get(name_of(case))
    return option("metric", said) or "unsaid"


def throughput(case: Case) -> Iterator[Wanted]:
    """Forward and backward matrix products for each token, attention not halved."""
    done, tokens = case["measured"].get("model_tflops"), case["measured"].get("tokens_per_s_per_gpu")
    if done and tokens:
        tuned = "fine-tuning on sequences whose real length the table does not give"
        yield Wanted("flops", done * 10**12 / tokens, why_not=tuned if case["flags"].get("task") else "")


def run_flops(case: Case) -> Iterator[Wanted]:
    if done := case["measured"].get("train_flops"):
        yield Wanted("rule", done, {"tokens": int(case["flags"]["tokens"])})


# Inference


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


BY_TYPE = re.compile(r"(kv_|k_)?(f16|f32|bf16|q\d_\d)_(\w+)")  # kv_f16_mib, k_q8_0_mib, f16_mib


def loaded(case: Case) -> Iterator[Wanted]:
    """llama.cpp: the file, caches by format, recurrent states, and the compute buffer of one device."""
    measured = case["measured"]
    if (file := size(measured, "model_size")) and file > 0:
        yield Wanted("file", file, why_not=_unknown_format(case))
    yield from _caches(case)
    if (states := size(measured, "rs")) and states > 0:
        yield Wanted("state", states)
    buffers = measured.get("compute_mib")
    if isinstance(buffers, dict) and len(buffers) == 1:
        yield Wanted("compute", float(next(iter(buffers.values()))) * MIB)


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


KINDS: tuple[tuple[re.Pattern[str], Callable[[Case], Iterator[Wanted]]], ...] = (
    (re.compile("train_(peak_)?memory|train_verdict"), trained),
    (re.compile("train_throughput"), throughput),
    (re.compile("train_flops"), run_flops),
    (re.compile("_startup|vllm_memory"), started),
    (re.compile("llamacpp|ollama_log"), loaded),
    (re.compile("inference_peak"), answered),
)


def mode_of(case: Case) -> str:
    return "train" if case["kind"].startswith("train") else "infer"


def runner_of(case: Case) -> str | None:
    """The code or engine that a case names."""
    if mode_of(case) == "train":
        return name_of(case)
    return engine_name(case) or ("litgpt" if "litgpt" in case["source"].lower() else None)


def checked(one: Wanted) -> Wanted:
    """Refused where what was measured is no size."""
    if one.quantity != "verdict" and not 0 < float(one.measured) < float("inf"):
        raise Inexpressible(f"a measured figure of {one.measured}")
    return one
