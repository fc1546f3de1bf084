"""The KV pools of serving engines, in words and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.report.table import Column
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.fit.kv_pool import KvPool

POOL: tuple[Column[tuple[str, KvPool]], ...] = (
    Column("", "KV pool", "name", lambda one: one[0]),
    Column("", "size", "room", lambda one: one[1].room),
    Column("", "tokens", "bound", lambda one: one[1].tokens),
    Column("", "bytes a token", "count", lambda one: round(one[1].bytes_per_token)),
    Column("", "requests at once", "bound", lambda one: one[1].max_requests),
    Column("", "longest context", "bound", lambda one: one[1].max_context),
)


def pool_line(pool: KvPool) -> str:
    """`KV pool: 476,646 tokens, 58 requests of 8,192 at once, …`."""
    if pool.room <= 0:
        return f"nothing is left for the KV cache: {binary_bytes(-pool.room)} are missing"
    each = round(pool.request_bytes / pool.bytes_per_token)
    requests = "request" if pool.max_requests == 1 else "requests"
    many = f"{f'{pool.max_requests:,}' if pool.max_requests else 'no'} {requests} of {each:,} at once"
    longest = "" if pool.max_context is None else f", one of up to {pool.max_context:,}"
    return f"KV pool: {pool.tokens:,} tokens in {binary_bytes(pool.room)}, {many}{longest}"
