"""The KV cache of an engine that fills a device: how many tokens and requests its pool holds, and the longest context.

    kv_pool(memory, sizes, capacity)

vLLM counts what it needs besides (weights, a full step, what is outside of PyTorch) and gives the rest of its share to
the pool; SGLang leaves a headroom; TensorRT-LLM takes a share of what is free once the model is loaded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from archcalc.analyze.fit.solve import UNBOUNDED, Curve
from archcalc.run.engine.on_device import headroom_on
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory

CACHE = ("kv_cache", "state")


@dataclass(frozen=True)
class KvPool:
    """`room` is negative where not even weights and a step fit. `max_context` is None where nothing bounds it."""

    room: int  # bytes
    request_bytes: int  # of one request of the length that was asked for
    bytes_per_token: float
    tokens: int
    max_requests: int
    max_context: int | None


def kv_pool(
    memory: Memory, sizes: Sizes, length: int, capacity: int, of_length: Callable[[int], Sizes], most: int | None
) -> KvPool:
    """For requests of so many tokens; `most` is the longest context of the model."""
    room, each = room_of(memory, sizes, capacity), cache_bytes(memory, replace(sizes, batch=1))
    there = max(room, 0)

    def needed(size: int) -> int:
        """Of the room at the length that was asked for, which is smaller where longer prompts take more to compute."""
        asked = replace(of_length(size), batch=1)
        less = 0 if memory.case.engine.tokens else room - room_of(memory, asked, capacity)
        return cache_bytes(memory, asked) + less

    longest = Curve(needed).largest(there, most or UNBOUNDED)
    context = None if longest == UNBOUNDED else longest
    if not each:
        return KvPool(room, 0, 0.0, 0, 0, context)
    return KvPool(room, each, each / length, there * length // each, there // each, context)


def room_of(memory: Memory, sizes: Sizes, capacity: int) -> int:
    """The bytes that the engine gives to its cache."""
    running, parts = memory.case.engine, memory.report(replace(sizes, batch=1)).parts
    needed = sum(size for part, size in parts.items() if part not in CACHE)
    if running.rules.pool == "free":
        return int(running.share * (capacity - needed))
    if running.rules.pool == "static" and running.step:
        left = headroom_on(running.rules, running.step, capacity, memory.case.plan.gpus)
        return int(running.share * capacity) - left - parts["weights"] - parts["overhead"]
    outside = 0 if running.rules.graphs_in_share else running.graphs(memory.layers)
    return int(running.share * capacity) - needed + outside


def cache_bytes(memory: Memory, sizes: Sizes) -> int:
    """Keys, values and recurrent states of all sequences."""
    return sum(one.bytes for one in memory.cached(sizes))
