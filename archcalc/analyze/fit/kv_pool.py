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
from archcalc.analyze.memory.peak import bytes_beside_cache, cache_bytes, cached, state_bytes
from archcalc.run.engine.rules import StatesPool
from archcalc.spec.units import binary_bytes


@dataclass(frozen=True)
class KvPool:
    """`room` is negative where not even weights and a step fit. `max_context` is None where nothing bounds it."""

    room: int  # bytes
    request_bytes: int  # of one request of the length that was asked for
    bytes_per_token: float
    tokens: int  # as the engine's log counts them
    max_requests: int
    max_context: int | None
    limits: tuple[Limit, ...] = ()  # what ends the growth of the number of requests, and that of the context

    @property
    def concurrency(self) -> float:
        """Requests of the length that was asked for, as vLLM's log has it: 1.06x."""
        return round(max(self.room, 0) / self.request_bytes, 2) if self.request_bytes else 0.0

    def record(self) -> dict[str, Any]:
        """As programs read it."""
        return {
            "kv_pool_bytes": self.room,
            "kv_pool_tokens": self.tokens,
            "max_concurrency": self.concurrency,
            "max_requests": self.max_requests,
            "max_context": self.max_context,
            "bytes_per_token": self.bytes_per_token,
        }

    def requests(self) -> str:
        """`58 requests of 8,192 tokens at once, one of up to 131,072`."""
        each = round(self.request_bytes / self.bytes_per_token)
        requests = "request" if self.max_requests == 1 else "requests"
        many = f"{f'{self.max_requests:,}' if self.max_requests else 'no'} {requests} of {each:,} tokens at once"
        return f"{many}, one of up to {self.max_context:,}" if self.max_context else many

    def line(self) -> str:
        """`KV pool: 476,646 tokens in 58.18 GiB, 58 requests of 8,192 tokens at once, …`."""
        if self.room <= 0:
            return f"nothing is left for the KV cache: {binary_bytes(-self.room)} are missing"
        return f"KV pool: {self.tokens:,} tokens in {binary_bytes(self.room)}, {self.requests()}"


def kv_pool(request: Request, length: int, capacity: int) -> KvPool:
    """Of a device with so much memory, for requests of so many tokens."""
    deployment, one = request.deployment, replace(request.sizes, batch=1)
    engine = deployment.run.engine
    room = room_of(engine, bytes_beside_cache(deployment, one), capacity)
    each, there = cache_bytes(deployment, one), max(room, 0)
    context, limited_by = longest_in(replace(request, sizes=one), capacity)
    if not each:
        return KvPool(room, 0, 0.0, 0, 0, context)
    tokens, held = _held(engine.rules.states_pool, there, each, state_bytes(deployment, one), length)
    limits = [Limit("batch", "memory", held)]
    if 1 < engine.requests < held:  # it computes no more at once than it was told, whatever its pool holds
        limits = [Limit("batch", "requests", engine.requests)]
    if context and limited_by:
        limits.append(Limit("context", limited_by, context))
    layout = next((one.layout for one in cached(deployment, deployment.workload(one)) if one.layout), None)
    if layout and engine.rules.blocks.log_by_group:
        tokens = layout.logged(there)
    return KvPool(room, each, each / length, tokens, held, context, tuple(limits))


def _held(rule: StatesPool | None, room: int, each: int, states: int, length: int) -> tuple[int, int]:
    """Tokens and requests of so many bytes each; recurrent states may have a part of the pool that is theirs alone."""
    if rule is None or not 0 < states < each:
        return room * length // each, room // each
    for_keys = int(room / (1 + rule.share))
    tokens, slots = for_keys * length // (each - states), (room - for_keys) // states
    return tokens, min(tokens // length, slots // rule.slots)
