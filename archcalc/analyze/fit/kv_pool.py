"""The KV pool of an engine that fills a device: how many tokens and requests it holds, and the longest context.

kv_pool(request, length, capacity)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from archcalc.analyze.fit.request import Request
from archcalc.analyze.fit.solve import UNBOUNDED, Curve
from archcalc.analyze.memory.engine_pool import room_of
from archcalc.analyze.memory.marginals import Limit
from archcalc.analyze.memory.peak import bytes_beside_cache, cache_bytes, peak


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


def kv_pool(request: Request, length: int, capacity: int) -> KvPool:
    """Of a device with so much memory, for requests of so many tokens."""
    deployment, most, one = request.deployment, request.longest, replace(request.sizes, batch=1)
    engine = deployment.run.engine
    room = room_of(engine, bytes_beside_cache(deployment, one), capacity)
    each, there = cache_bytes(deployment, one), max(room, 0)
    longest = Curve(lambda size: peak(deployment, replace(request.of_length(size), batch=1)).required)
    found = longest.largest(capacity, most or UNBOUNDED)
    context = None if found == UNBOUNDED else found
    if not each:
        return KvPool(room, 0, 0.0, 0, 0, context)
    held = there // each
    limits = [Limit("batch", "memory", held)]
    if 1 < engine.requests < held:  # it computes no more at once than it was told, whatever its pool holds
        limits = [Limit("batch", "requests", engine.requests)]
    if context:
        limits.append(Limit("context", "positions" if context == most else "memory", context))
    return KvPool(room, each, each / length, there * length // each, held, context, tuple(limits))
