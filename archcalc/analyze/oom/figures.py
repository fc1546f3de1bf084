"""The figures of logs: what each is called, its unit, and the same as archcalc counts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from archcalc.analyze.fit.request import Request
from archcalc.analyze.fit.rows import Row
from archcalc.analyze.fit.startup import COMPUTED
from archcalc.analyze.memory.engine_pool import LOADED
from archcalc.analyze.memory.peak import cache_bytes


@dataclass(frozen=True)
class Counted:
    """A run as archcalc counts it; `row` is that of its device, where one is known."""

    request: Request
    row: Row | None = None

    def parts(self, *names: str) -> int:
        return sum(self.request.report.parts[name] for name in names)

    def of_pool(self, name: str) -> float | None:
        """Of an engine that fills a device, unless nothing is left for its KV cache."""
        if not (self.row and self.row.pool and self.row.pool.room > 0):
            return None
        found: float | None = getattr(self.row.pool, name)
        return found

    def runtime(self) -> int | None:
        return self.request.deployment.run.engine.runtime(self.request.options.plan.gpus)

    def graphs(self) -> int | None:
        return self.request.deployment.run.engine.graphs(self.request.deployment.layers) or None

    def one_request(self) -> int | None:
        return cache_bytes(self.request.deployment, replace(self.request.sizes, batch=1)) or None


class Kind(NamedTuple):
    """Without `counted` it is a fact of the machine or of the moment, to which nothing is compared."""

    label: str
    unit: str = "binary"
    counted: Callable[[Counted], float | None] = lambda _: None


FIGURES = {
    "tried": Kind("tried to allocate"),
    "allocated": Kind("allocated by then"),
    "reserved": Kind("reserved by then"),
    "unused": Kind("reserved but unallocated"),
    "process": Kind("in use by the process"),
    "free": Kind("free on the card"),
    "capacity": Kind("memory of the card"),
    "needed": Kind("peak, at least", counted=lambda run: run.request.report.allocated_bytes),
    "weights": Kind("weights", counted=lambda run: run.parts(*LOADED)),
    "activations": Kind("activations of a step", counted=lambda run: run.parts(*COMPUTED)),
    "compute": Kind("compute buffer", counted=lambda run: run.parts(*COMPUTED)),
    "non_torch": Kind("outside of PyTorch", counted=Counted.runtime),
    "graphs": Kind("CUDA graphs", counted=Counted.graphs),
    "cache": Kind("KV cache", counted=lambda run: run.parts("kv_cache")),
    "state": Kind("recurrent state", counted=lambda run: run.parts("state")),
    "kv_request": Kind("KV cache of one request", counted=Counted.one_request),
    "kv_pool": Kind("memory for the KV cache", counted=lambda run: run.of_pool("room")),
    "kv_tokens": Kind("tokens in the KV cache", "count", lambda run: run.of_pool("tokens")),
    "concurrency": Kind("requests at once", "fold", lambda run: run.of_pool("concurrency")),
    "longest": Kind("longest context", "count", lambda run: run.of_pool("max_context")),
    "free_at_start": Kind("free before loading"),
    "left": Kind("free behind the KV cache"),
}
