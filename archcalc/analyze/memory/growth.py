"""What a little more takes, asked for again at the larger size.

Bytes are those of tensors, without what an allocator adds; of an engine that fills its device, those of the KV cache.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.marginals import TOKENS, Limit, Marginals, OneImage
from archcalc.analyze.memory.peak import Peak, cache_bytes, peak, played
from archcalc.core.errors import InputError
from archcalc.spec.sizes import Sizes
from archcalc.spec.workload import Lengths, Workload

BytesAt = Callable[[Sizes], int]


def growth(found: Peak) -> Marginals:
    """One more sequence, more tokens in each, one more image, one more layer on the GPU."""
    deployment, layer, number = found.deployment, None, found.deployment.options.ngl
    longest = deployment.network.resolved.lengths
    pool = cache_bytes(deployment, found.sizes) if deployment.run.engine.fills_device else 0
    if pool:
        made = marginals(found.work, longest, pool, partial(cache_bytes, deployment))
        return replace(made, image=_image(found, pool, cache_bytes))
    if number is not None and deployment.offloading.residence.first_on_gpu:
        more = deploy(deployment.network, deployment.options.changed(ngl=number + 1), deployment.stage)
        layer = peak(more, found.sizes).bytes - found.bytes
    now = found.bytes
    made = marginals(found.work, longest, now, lambda sizes: played(deployment, sizes).levels.peak.bytes, layer)
    return replace(made, image=_image(found, now, lambda other, sizes: peak(other, sizes).bytes))


def _image(found: Peak, now: int, at: Callable[[Deployment, Sizes], int]) -> OneImage | None:
    """In every sequence, which is longer by what the image takes."""
    deployment, work = found.deployment, found.work
    if "images" in deployment.run.unloaded:
        return None
    more = deployment.network.with_another_image()
    if more is None or work.decodes:
        return None
    network, positions = more
    longer = {name: length + positions for name, length in work.lengths.items()}
    other = deploy(network, deployment.options, deployment.stage)
    with suppress(InputError):  # a table of positions ends
        return OneImage(positions, at(other, Sizes(batch=work.batch, **longer)) - now)
    return None


def marginals(work: Workload, longest: Lengths, now: int, at: BytesAt, layer: int | None = None) -> Marginals:
    """`at` has the bytes at any sizes, and `now` is what they are at the sizes of `work`; `layer` is what one more
    layer on the GPU takes, where layers are dealt out."""
    lengths, names = dict(work.lengths), [name for name in longest if not longest[name].fixed]
    if work.decodes:
        lengths[next(reversed(lengths))] = work.context
    chosen = {name: lengths[name] for name in names}  # by a user; of a decode step the context, for the last length
    if work.decodes:
        _, chosen["context"] = chosen.popitem()
    sizes = Sizes(batch=work.batch, **chosen)
    longer = {name: chosen[name] + TOKENS for name in (["context"] if work.decodes else names)}
    larger = {"sequence": replace(sizes, batch=work.batch + 1)}
    if longer:
        larger["tokens"] = replace(sizes, **longer)
    added: dict[str, int] = {}
    for name, more in larger.items():
        with suppress(InputError):  # the model or the options do not allow the sizes: a table of positions ends
            added[name] = at(more) - now
    ends = [  # of the growth, as far as it is known without a device: the positions that a model has
        limit.length - (limit.hard and work.decodes)
        for name, limit in longest.items()
        if limit.length and not limit.fixed and limit.length >= lengths[name]
    ]
    limits = (Limit("context", "positions", min(ends)),) if ends else ()
    one = "sequence" if names else "sample"
    return Marginals(added.get("sequence"), added.get("tokens"), layer, limits, one, are_several=work.batch > 1)
