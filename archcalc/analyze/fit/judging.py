"""A row for each device: what is needed there, whether it fits, and what is solved for."""

from __future__ import annotations

from dataclasses import replace

from archcalc.analyze.fit.kv_pool import KvPool, kv_pool
from archcalc.analyze.fit.layer_split import shares
from archcalc.analyze.fit.need import by_batch, fits, longest_in, required, room
from archcalc.analyze.fit.placing import Placed
from archcalc.analyze.fit.rows import Part, Row
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.fit.solve import UNBOUNDED
from archcalc.analyze.fit.spread import spread_of
from archcalc.analyze.memory.peak import cache_bytes
from archcalc.analyze.placement import shares_layers
from archcalc.core.progress import doing


def judged(placed: Placed) -> Row:
    """Without what is solved for."""
    request, here = placed.request, room(placed.request, placed.group.first)
    parts: list[Part] = []
    if request.split:
        held = shares(request.deployment, request.split, request.sizes)
        for (name, device), share in zip(placed.group.each, held, strict=True):
            parts.append(Part(name, (share.first, share.last), room(request, device), share.required))
        here = replace(here, capacity=sum(part.room.capacity for part in parts))
    return Row(
        gpu=placed.group.name,
        room=here,
        required_bytes=sum(part.required_bytes for part in parts) or required(request),
        memory=request.report,
        devices=placed.group.count,
        parts=tuple(parts),
        pool=_pool(placed),
        host_capacity=request.options.host,
    )


def _pool(placed: Placed) -> KvPool | None:
    """Of the whole device: it is filled, whatever the error band. An encoder keeps nothing for later tokens."""
    request, length = placed.request, placed.request.length
    if not request.run.engine.fills_device or request.split or not length:
        return None
    return kv_pool(request, length, placed.capacity) if cache_bytes(request.deployment, request.sizes) else None


def solved(placed: Placed, remedy: Remedy | None) -> Row:
    """With the largest batch, the longest context and the fewest devices that fit."""
    request, device = placed.request, placed.group.first
    doing(f"solving for batch and context on {placed.group.name}")
    safe = room(request, device).safe
    batch, (length, limited_by) = by_batch(request).largest(safe), longest_in(request, safe)
    return replace(
        judged(placed),
        max_batch=None if batch == UNBOUNDED else batch,
        max_seq=length,
        limited_by=limited_by,
        gpus_needed=_fewest(placed),
        remedy=remedy,
    )


def _fewest(placed: Placed) -> int | None:
    """Devices that are whole computers are not joined: one of them is enough, or none."""
    request, device = placed.request, placed.group.first
    if request.split or not shares_layers(device):
        return placed.group.count if fits(request, device) else None
    return spread_of(request, device).fewest()
