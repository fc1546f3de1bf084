"""The memory that vLLM gives to its KV cache, and what archcalc says of the same: `--engine vllm@VERSION`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from measured_asked import DTYPES, Pair, length, parallel
from measured_codes import Case
from measured_models import whole
from measured_units import GIB, Inexpressible, size
from measured_vllm import switched, version
from measured_weights import beside, quantised

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.engine_pool import room_of
from archcalc.core.errors import InputError
from archcalc.run.device import device
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options
from archcalc.spec.sizes import Sizes

PRINTED = re.compile(r"([\d.]+) ?GiB")
OPTIONS = ("gpu_memory_utilization", "max_num_batched_tokens", "max_num_seqs")


def vllm_pool(case: Case) -> Iterator[Pair]:
    """In GiB on each GPU, where the log says its version and the share that it takes."""
    printed = size(case["measured"], "available_kv")
    if printed is None:
        return
    on, model = _device(case), whole(case)
    memory = Memory(model, replace(Options.of("fit", _options(case)), device=on))
    room = room_of(memory, Sizes(1, length(case, 4096)), on.memory) - beside(case, model)
    yield "KV pool GiB", printed / GIB, room / GIB


def _options(case: Case) -> dict[str, Any]:
    flags, said = case["flags"], version(str(case["flags"].get("engine")))
    if not said:
        raise Inexpressible("a log without vLLM's version")
    if not flags.get("gpu_memory_utilization"):
        raise Inexpressible("a log without gpu_memory_utilization")
    cache = "fp8" if str(case.get("kv_cache_dtype")).startswith("fp8") else None
    chosen = {name: flags[name] for name in OPTIONS if flags.get(name)}
    eager = switched(flags.get("enforce_eager"))
    engine = f"vllm@{'.'.join(map(str, said))}"
    dtype = DTYPES.get(str(case.get("dtype")), "bf16")
    found = {
        "engine": engine,
        "precision": dtype,
        "weights": quantised(case),
        "kv_dtype": cache,
        "enforce_eager": eager,
    }
    return {**found, **chosen, **parallel(case)}


def _device(case: Case) -> DeviceFacts:
    """By its name; with the memory that the log prints, where it prints it."""
    said = str(case.get("gpu"))
    try:
        _, found = device(said.partition("(")[0].strip())
    except InputError:
        raise Inexpressible("a log that does not name the device") from None
    printed = PRINTED.search(said)
    facts = DeviceFacts.of(found)
    return replace(facts, memory=int(float(printed[1]) * GIB)) if printed else facts
