"""The KV pools of serving engines, in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from archcalc.report.base import Column, Line, Table
from archcalc.spec.units import binary_bytes

if TYPE_CHECKING:
    from archcalc.analyze.fit.kv_pool import KvPool
    from archcalc.analyze.fit.rows import Row

COLUMNS = (
    Column("KV pool", "name"),
    Column("size", "room"),
    Column("tokens", "bound"),
    Column("bytes a token", "count"),
    Column("requests at once", "bound"),
    Column("longest context", "bound"),
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


def pool_tables(rows: Sequence[Row]) -> list[Table]:
    """One, if an engine fills the devices."""
    lines = [_line(row.gpu, row.pool) for row in rows if row.pool]
    return [Table(COLUMNS, tuple(lines))] if lines else []


def _line(gpu: str, pool: KvPool) -> Line:
    return Line((gpu, pool.room, pool.tokens, round(pool.bytes_per_token), pool.max_requests, pool.max_context))
