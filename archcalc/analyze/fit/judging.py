"""A row for each device: what is needed there, whether it fits, and what is solved for."""

from __future__ import annotations

from dataclasses import replace

from archcalc.analyze.fit.kv_pool import kv_pool
from archcalc.analyze.fit.layer_split import shares
from archcalc.analyze.fit.need import fits, required, room
from archcalc.analyze.fit.placing import Placed
from archcalc.analyze.fit.rows import Part, Row
from archcalc.analyze.fit.search import Remedy
from archcalc.analyze.fit.solve import UNBOUNDED, by_batch, longest_in
from archcalc.analyze.fit.spread import Spread
from archcalc.analyze.memory.peak import cache_bytes
from archcalc.analyze.placement import shares_layers
from archcalc.core.progress import doing


def judged(placed: Placed) -> Row:
    """Without what is solved for."""
    request, device = placed.request, placed.group.first
    deployment, here, length = request.deployment, room(request, device), request.length
    parts: list[Part] = []
    pool = None  # of the whole device: it is filled, whatever the error band. An encoder keeps nothing for later tokens
    if request.split:
        held = shares(deployment, request.split, request.sizes)
        for (name, each), share in zip(placed.group.each, held, strict=True):
            parts.append(Part(name, (share.first, share.last), room(request, each), share.required))
        here = replace(here, capacity=sum(part.room.capacity for part in parts))
    elif length and deployment.run.engine.fills_device and cache_bytes(deployment, request.sizes):
        pool = kv_pool(request, length, device.capacity)
    return Row(
        gpu=placed.group.name,
        room=here,
        required_bytes=sum(part.required_bytes for part in parts) or required(request),
        memory=request.report,
        devices=placed.group.count,
        parts=tuple(parts),
        pool=pool,
        host_capacity=request.options.host,
    )


def solved(placed: Placed, remedy: Remedy | None) -> Row:
    """With the largest batch, the longest context and the fewest devices that fit."""
    request, device = placed.request, placed.group.first
    doing(f"solving for batch and context on {placed.group.name}")
    safe = room(request, device).safe
    batch, (length, limited_by) = by_batch(request).largest(safe), longest_in(request, safe)
    if request.split or not shares_layers(device):  # whole computers are not joined: one of them is enough, or none
        fewest = placed.group.count if fits(request, device) else None
    else:
        fewest = Spread.of(request, device).fewest()
    return replace(
        judged(placed),
        max_batch=None if batch == UNBOUNDED else batch,
        max_seq=length,
        limited_by=limited_by,
        gpus_needed=fewest,
        remedy=remedy,
    )
