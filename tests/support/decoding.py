"""How much a decoder keeps for later tokens, in one precision."""

from __future__ import annotations

from archcalc.analyze.memory.decode_cache import CacheFormats, cached
from archcalc.model import Model
from archcalc.spec.workload import Workload


def cache_bytes(model: Model, work: Workload, precision: str) -> int:
    """Bytes after that work."""
    return sum(one.bytes for one in cached(model.build(work), work, CacheFormats.plain(precision)))
