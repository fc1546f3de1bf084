"""What an engine prints of its memory when it starts, so that its log can be held beside the answer.

    startup(request, pool)      ("Model loading took 14.96 GiB", "Available KV cache memory: 5.01 GiB", …)

The lines are in the engine's file (`prints` in presets/engines); one whose figure is zero is not printed.
"""

from __future__ import annotations

from archcalc.analyze.fit.kv_pool import KvPool
from archcalc.analyze.fit.request import Request
from archcalc.analyze.memory.peak import cached
from archcalc.run.engine.rules import fields_of

COMPUTED = ("activations", "logits", "temporary", "buffers")
UNITS = {"gib": 2**30, "mib": 2**20}


def startup(request: Request, pool: KvPool | None) -> tuple[str, ...]:
    """The lines with their figures, in the order of the log; those alone for which there is something to print."""
    figures = {name: value for name, value in _figures(request, pool).items() if value > 0}
    lines = request.deployment.run.engine.rules.prints
    return tuple(line.format(**figures) for line in lines if fields_of(line) <= figures.keys())


def _figures(request: Request, pool: KvPool | None) -> dict[str, float]:
    """Sizes in both units, since engines print one or the other."""
    parts, length = request.report.parts, request.varying.asked or 0
    sizes = {
        "weights": parts["weights"],
        "cache": pool.room if pool else parts["kv_cache"],
        "state": parts["state"],
        "compute": sum(parts[part] for part in COMPUTED),
    }
    found = {f"{name}_{unit}": size / scale for name, size in sizes.items() for unit, scale in UNITS.items()}
    if pool and pool.request_bytes and pool.room > 0:
        found |= _apart(request, pool.room)
        found |= {"tokens": pool.tokens, "concurrency": pool.room / pool.request_bytes}
    return {**found, "length": length}


def _apart(request: Request, room: int) -> dict[str, float]:
    """Keys and values of a pool, where every layer has both, and caches every token."""
    deployment = request.deployment
    kept = cached(deployment, deployment.workload(request.sizes))
    values = sum(one.bytes for one in kept if one.tensor.of_values)
    is_even = all(one.grows and not any(dim.reach for dim in one.tensor.dims) for one in kept)
    if not (values and is_even):
        return {}
    share = values / sum(one.bytes for one in kept)
    return {"keys_gib": (1 - share) * room / UNITS["gib"], "values_gib": share * room / UNITS["gib"]}
