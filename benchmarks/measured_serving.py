"""Measured runs of inference engines as options of `archcalc fit` and `archcalc memory`."""

from __future__ import annotations

import re
from typing import Any

from measured_cases import Case, is_fork
from measured_devices import device_of
from measured_names import Typed
from measured_plan import plan_of
from measured_units import Inexpressible, number
from measured_weights import file_format, weights_of
from measured_words import WORDS, option

Options = dict[str, Any]

VERSION = re.compile(r"\d+(?:\.\d+)+")
BUILD = re.compile(r"\bb(\d{3,})\b")  # llama.cpp's, b9010
FORKED = "b3600"  # of llama.cpp, from which ik_llama.cpp goes its own way
GGUF = "q4_k_m"  # of a file whose format is not known: neither caches nor buffers depend on it
LAYERS = re.compile(r"(\d+)/(\d+)")  # offloaded to the GPU, of all
USUAL_LENGTH = 4096


def served(case: Case, typed: Typed) -> Options:
    """Every option of one case, as typed."""
    flags = case["flags"]
    chosen = {name: flags[flag] for flag, name in WORDS["flags"].items() if flags.get(flag)}
    return {
        **_sizes(case),
        "gpu": device_of(case).typed,
        "engine": engine_of(case),
        "precision": option("computed", case.get("dtype")),
        "weights": _weights(case, typed),
        **_cache_formats(case),
        "attention": _attention(case),
        **chosen,
        "enforce-eager": _is_on(flags.get("enforce_eager")) or _is_on(flags.get("disable_cuda_graph")),
        "ngl": _on_the_gpu(flags.get("offloaded")),
        "draft": _draft(flags.get("speculative")),
        **{axis: size for axis, size in plan_of(case).options.items() if axis in ("tp", "pp", "ep")},
    }


def engine_name(case: Case) -> str | None:
    """By what the case calls it, else by its kind."""
    said = case["flags"].get("engine") or case.get("engine") or ""
    return option("engine", said) or option("engine", case["kind"].replace("llamacpp", "llama.cpp").replace("_", "-"))


def engine_of(case: Case) -> str | None:
    """With its version, where the log says it; a source of litgpt runs plain PyTorch."""
    name = engine_name(case) or ("plain" if "litgpt" in case["source"].lower() else None)
    flags = case["flags"]
    said = f"{flags.get('engine') or case.get('engine') or ''} {flags.get('version') or ''}"
    found = VERSION.search(said) or BUILD.search(str(flags.get("build") or ""))
    version = found[found.re.groups] if found else _released(case, name, said)
    return f"{name}@{version}" if name and version and name != "plain" else name


def _released(case: Case, name: str | None, said: str) -> str | None:
    """The version of that month, for engines whose releases are listed; a build of llama.cpp by its commit, its month,
    or its fork, as measured_words.yaml has them."""
    flags = case["flags"]
    if is_fork(case):
        return FORKED
    if name == "llama.cpp":
        return option("builds", flags.get("build"))
    kind = f"{name}_releases"
    return option(kind, said) if kind in WORDS else None


def _sizes(case: Case) -> Options:
    """llama.cpp's slots with a context of their own each are sequences of that length."""
    flags = case["flags"]
    slots, own = number(flags.get("n_seq_max") or flags.get("n_seq"), 1), number(flags.get("n_ctx_seq"))
    seq = number(case.get("seq") or flags.get("context_len") or flags.get("n_ctx"))
    if slots > 1 and own and own * slots == seq:
        return {"batch": slots, "seq": own}
    batch = number(case.get("batch"), 1)
    return {"batch": batch if batch > 1 else None, "seq": seq or None}


def _weights(case: Case, typed: Typed) -> str | None:
    """Of a GGUF file its format as printed, if archcalc has it: a cache does not depend on it."""
    if case.get("dtype") != "ggml" and engine_name(case) not in ("llama.cpp", "ollama"):
        return weights_of(case, typed)
    try:
        return file_format(case)
    except Inexpressible:
        return GGUF


def _cache_formats(case: Case) -> Options:
    """llama.cpp's logs name that of keys, and that of values."""
    flags = case["flags"]
    logged = re.findall(r"(?:\b[KV]|c\^KV) \((\w+)\)", str(flags.get("kv_types") or ""))
    if len(set(logged)) > 1:
        keys, values = (option("kv", said) or "fp16" for said in logged[:2])
        return {"cache-type-k": keys, "cache-type-v": values}
    said = logged[0] if logged else case.get("kv_cache_dtype") or flags.get("kv") or flags.get("cache_type_k")
    return {"kv-dtype": option("kv", said)}


def _attention(case: Case) -> str | None:
    """As llama.cpp's flag says; other engines have one kernel."""
    said = str(case["flags"].get("flash_attn", "auto")).lower()
    if "auto" in said:
        return None
    return "flash" if said in ("1", "true", "on", "enabled") else "eager"


def _on_the_gpu(offloaded: Any) -> int | None:
    found = LAYERS.search(str(offloaded))
    return int(found[1]) if found and found[1] != found[2] else None


def _draft(said: Any) -> str | None:
    """The model's own blocks for further tokens; another draft model is named by no option that is known here."""
    if not said:
        return None
    if "mtp" in str(said).lower():
        return "mtp"
    raise Inexpressible(f"speculative decoding by {said}")


def _is_on(said: Any) -> bool:
    return str(said).lower() in ("true", "1", "on", "yes")
