"""What a serving engine needs of a device: it fills a share of it, and gives to the KV cache what the rest leaves.

vLLM counts weights, a full step and what is outside of PyTorch, and the rest of its share is the pool; SGLang takes
weights off a share of what is free before they are loaded; TensorRT-LLM and LMDeploy a share of what is free behind
them.
"""

from __future__ import annotations

from math import ceil

from archcalc.run.engine.running import Running

CACHE = ("kv_cache", "state", "draft_cache")
BEHIND = ("free", "loaded")  # whose share is of what all else leaves
UNTRIED = ("static", "loaded")  # which try no step before they give the cache its memory
LOADED = ("weights", "adapters", "draft")


def room_of(engine: Running, beside: int, capacity: int) -> int:
    """The bytes of a device that the engine gives to its cache; negative where all else does not fit."""
    if engine.rules.pool in BEHIND:
        return int(engine.share * (capacity - beside))
    return int(engine.share * capacity) - beside


def required_by_engine(engine: Running, beside: int, cache: int) -> int:
    """The memory that a device must have for so many bytes of cache, and of all else that is within the share."""
    if engine.rules.pool in BEHIND:
        return beside + ceil(cache / engine.share)
    return ceil((beside + cache) / engine.share)


def beside_cache(engine: Running, parts: dict[str, int], layers: int) -> int:
    """All that is within the share and no cache, by the parts of a step's peak on one GPU."""
    if engine.rules.pool in UNTRIED:
        # static: free after loading - (1 - share) · free before loading, which is what the runtime leaves of the device
        of_runtime = engine.share if engine.rules.pool == "static" else 1
        return sum(parts[part] for part in LOADED) + ceil(of_runtime * parts["overhead"])
    return sum(size for part, size in parts.items() if part not in CACHE) - engine.graphs_outside(layers)
