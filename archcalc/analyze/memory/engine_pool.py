"""What a serving engine needs of a device: it fills a share of it, and gives to the KV cache what the rest leaves.

vLLM counts weights, a full step and what is outside of PyTorch, and the rest of its share is the pool; SGLang leaves a
headroom; TensorRT-LLM takes a share of what is free once the model is loaded.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import TYPE_CHECKING

from archcalc.run.engine.on_device import headroom_on
from archcalc.spec.sizes import Sizes
from archcalc.spec.traces import sizes_of

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory

CACHE = ("kv_cache", "state", "draft_cache")


def room_of(memory: Memory, sizes: Sizes, capacity: int) -> int:
    """The bytes of a device that the engine gives to its cache; negative where all else does not fit."""
    running, beside = memory.run.engine, beside_cache(memory, sizes)
    if running.rules.pool == "free":
        return int(running.share * (capacity - beside))
    return int(running.share * capacity) - beside


def required_by_engine(memory: Memory, sizes: Sizes) -> int:
    """The memory that a device must have for these sequences."""
    running, beside, cache = memory.run.engine, beside_cache(memory, sizes), cache_bytes(memory, sizes)
    if running.rules.pool == "free":
        return beside + ceil(cache / running.share)
    return ceil((beside + cache) / running.share)


def cache_bytes(memory: Memory, sizes: Sizes) -> int:
    """Keys, values and recurrent states of all sequences, and those of a draft model."""
    beside = memory.residents_of(sizes) if memory.options.draft else []
    return sum(one.bytes for one in memory.cached(sizes)) + sum(one.held.get("draft_cache", 0) for one in beside)


def beside_cache(memory: Memory, sizes: Sizes) -> int:
    """All that is within the share and no cache; the same for any number of sequences, and for all lengths of which a
    step reads prompts of one size."""
    one = replace(sizes, batch=1)
    key = sizes_of(memory.prompt(one))
    if key not in memory.beside:
        memory.beside[key] = _counted(memory, one)
    return memory.beside[key]


def _counted(memory: Memory, sizes: Sizes) -> int:
    running, parts = memory.run.engine, memory.peak_parts(sizes)
    if running.rules.pool == "static" and running.step:
        left = headroom_on(running.rules, running.step, running.device.memory, memory.run.plan.gpus)
        return parts["weights"] + parts["overhead"] + left
    outside = 0 if running.rules.graphs_in_share else running.graphs(memory.layers)
    return sum(size for part, size in parts.items() if part not in CACHE) - outside
