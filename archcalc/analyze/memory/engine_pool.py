"""What a serving engine needs of a device: it fills a share of it, and gives to the KV cache what the rest leaves.

vLLM counts weights, a full step and what is outside of PyTorch, and the rest of its share is the pool; SGLang leaves a
headroom; TensorRT-LLM takes a share of what is free once the model is loaded.
"""

from __future__ import annotations

from math import ceil

from archcalc.run.engine.running import Running

CACHE = ("kv_cache", "state", "draft_cache")


def room_of(engine: Running, beside: int, capacity: int) -> int:
    """The bytes of a device that the engine gives to its cache; negative where all else does not fit."""
    if engine.rules.pool == "free":
        return int(engine.share * (capacity - beside))
    return int(engine.share * capacity) - beside


def required_by_engine(engine: Running, beside: int, cache: int) -> int:
    """The memory that a device must have for so many bytes of cache, and of all else that is within the share."""
    if engine.rules.pool == "free":
        return beside + ceil(cache / engine.share)
    return ceil((beside + cache) / engine.share)


def beside_cache(engine: Running, parts: dict[str, int], gpus: int, layers: int) -> int:
    """All that is within the share and no cache, by the parts of a step's peak on one of so many GPUs."""
    if engine.rules.pool == "static" and engine.has_steps:
        return parts["weights"] + parts["overhead"] + engine.headroom(gpus)
    outside = 0 if engine.rules.graphs_in_share else engine.graphs(layers)
    return sum(size for part, size in parts.items() if part not in CACHE) - outside
