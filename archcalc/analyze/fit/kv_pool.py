"""The KV pool of an engine that fills a device: how many tokens and requests it holds, and the longest context.

kv_pool(request, length, capacity)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from archcalc.analyze.fit.request import Request
from archcalc.analyze.fit.solve import longest_in
from archcalc.analyze.memory.engine_pool import room_of
from archcalc.analyze.memory.marginals import Limit
from archcalc.analyze.memory.peak import bytes_beside_cache, cache_bytes
from archcalc.spec.units import binary_bytes


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

    def line(self) -> str:
        """`KV pool: 476,646 tokens, 58 requests of 8,192 at once, …`."""
        if self.room <= 0:
            return f"nothing is left for the KV cache: {binary_bytes(-self.room)} are missing"
        each = round(self.request_bytes / self.bytes_per_token)
        requests = "request" if self.max_requests == 1 else "requests"
        many = f"{f'{self.max_requests:,}' if self.max_requests else 'no'} {requests} of {each:,} at once"
        longest = "" if self.max_context is None else f", one of up to {self.max_context:,}"
        return f"KV pool: {self.tokens:,} tokens in {binary_bytes(self.room)}, {many}{longest}"


def kv_pool(request: Request, length: int, capacity: int) -> KvPool:
    """Of a device with so much memory, for requests of so many tokens."""
    deployment, one = request.deployment, replace(request.sizes, batch=1)
    engine = deployment.run.engine
    room = room_of(engine, bytes_beside_cache(deployment, one), capacity)
    each, there = cache_bytes(deployment, one), max(room, 0)
    context, limited_by = longest_in(replace(request, sizes=one), capacity)
    if not each:
        return KvPool(room, 0, 0.0, 0, 0, context)
    held = there // each
    limits = [Limit("batch", "memory", held)]
    if 1 < engine.requests < held:  # it computes no more at once than it was told, whatever its pool holds
        limits = [Limit("batch", "requests", engine.requests)]
    if context and limited_by:
        limits.append(Limit("context", limited_by, context))
    return KvPool(room, each, each / length, there * length // each, held, context, tuple(limits))
