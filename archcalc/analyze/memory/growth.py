"""What a little more takes, asked for again at the larger size.

Bytes are those of tensors, without what an allocator adds; of an engine that fills its device, those of the KV cache.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from archcalc.analyze.memory.deployment import deploy
from archcalc.analyze.memory.marginals import TOKENS, Limit, Marginals
from archcalc.analyze.memory.peak import Peak, cache_bytes, peak, played
from archcalc.core.errors import InputError
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Lengths, Workload

BytesAt = Callable[[Sizes], int]


def growth(found: Peak) -> Marginals:
    """One more sequence, more tokens in each, one more layer on the GPU."""
    deployment, layer, number = found.deployment, None, found.deployment.options.ngl
    longest = deployment.network.resolved.lengths
    pool = cache_bytes(deployment, found.sizes) if deployment.run.engine.fills_device else 0
    if pool:
        return marginals(found.work, longest, pool, partial(cache_bytes, deployment))
    if number is not None and deployment.offloading.residence.first_on_gpu:
        more = deploy(deployment.network, deployment.options.changed(ngl=number + 1), deployment.stage)
        layer = peak(more, found.sizes).bytes - found.bytes
    now = found.bytes
    return marginals(found.work, longest, now, lambda sizes: played(deployment, sizes).levels.peak.bytes, layer)


def marginals(work: Workload, longest: Lengths, now: int, at: BytesAt, layer: int | None = None) -> Marginals:
    """`at` has the bytes at any sizes, and `now` is what they are at the sizes of `work`; `layer` is what one more
    layer on the GPU takes, where layers are dealt out."""
    names = [name for name in longest if not longest[name].fixed]
    lengths = {name: size for name, size in work.lengths.items() if name in names}  # that a user may choose
    if work.decodes:
        lengths.popitem()
        lengths["context"] = work.context
    sizes = Sizes(batch=work.batch, **lengths)
    longer = {name: lengths[name] + TOKENS for name in (["context"] if work.decodes else names)}
    larger = {"sequence": replace(sizes, batch=work.batch + 1)}
    if longer:
        larger["tokens"] = replace(sizes, **longer)
    added: dict[str, int] = {}
    for name, more in larger.items():
        with suppress(InputError):  # the model or the options do not allow the sizes: a table of positions ends
            added[name] = at(more) - now
    return Marginals(
        sequence=added.get("sequence"),
        tokens=added.get("tokens"),
        layer=layer,
        limits=_positions(work, longest),
        one="sequence" if names else "sample",
        are_several=work.batch > 1,
    )


def _positions(work: Workload, longest: Lengths) -> tuple[Limit, ...]:
    """What is known without a device to end the growth: the positions that a model has."""
    now = dict(work.lengths)
    if work.decodes:
        now[next(reversed(now))] = work.context
    ends = [
        limit.length - (limit.hard and work.decodes)
        for name, limit in longest.items()
        if limit.length and not limit.fixed and limit.length >= now[name]
    ]
    return (Limit("context", "positions", min(ends)),) if ends else ()
