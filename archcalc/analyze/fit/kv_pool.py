"""The KV pool of an engine that fills a device: how many tokens and requests it holds, and the longest context.

kv_pool(memory, sizes, capacity)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from archcalc.analyze.fit.solve import UNBOUNDED, Curve
from archcalc.analyze.memory.engine_pool import room_of
from archcalc.analyze.memory.marginals import Limit
from archcalc.analyze.memory.peak import bytes_beside_cache, cache_bytes, peak
from archcalc.spec.sizes import Sizes

if TYPE_CHECKING:
    from archcalc.analyze.memory.answer import Memory


@dataclass(frozen=True)
class KvPool:
    """`room` is negative where not even weights and a step fit. `max_context` is None where nothing bounds it."""

    room: int  # bytes
    request_bytes: int  # of one request of the length that was asked for
    bytes_per_token: float
    tokens: int
    max_requests: int
    max_context: int | None
    limits: tuple[Limit, ...] = ()  # what ends the growth of the number of requests, and that of the context

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "kv_pool_bytes": self.room,
            "kv_pool_tokens": self.tokens,
            "max_requests": self.max_requests,
            "max_context": self.max_context,
            "bytes_per_token": self.bytes_per_token,
        }


def kv_pool(
    memory: Memory, sizes: Sizes, length: int, capacity: int, of_length: Callable[[int], Sizes], most: int | None
) -> KvPool:
    """For requests of so many tokens; `most` is the longest context of the model."""
    one = replace(sizes, batch=1)
    room = room_of(memory.run.engine, bytes_beside_cache(memory.deployment, one), capacity)
    each = cache_bytes(memory.deployment, one)
    longest = Curve(lambda size: peak(memory.deployment, replace(of_length(size), batch=1)).required)
    found = longest.largest(capacity, most or UNBOUNDED)
    context, there = None if found == UNBOUNDED else found, max(room, 0)
    if not each:
        return KvPool(room, 0, 0.0, 0, 0, context)
    limits = (_of_requests(memory, there // each), *_of_context(context, most))
    return KvPool(room, each, each / length, there * length // each, there // each, context, limits)


def _of_requests(memory: Memory, held: int) -> Limit:
    """An engine computes no more at once than it was told, whatever its pool holds."""
    at_once = memory.run.engine.requests
    return Limit("batch", "requests", at_once) if 1 < at_once < held else Limit("batch", "memory", held)


def _of_context(longest: int | None, most: int | None) -> Iterator[Limit]:
    if longest:
        yield Limit("context", "positions" if longest == most else "memory", longest)
