"""Layers of a model among devices, as many on each as its memory holds: inference one device after the other.

    shares(deployment, (24 * 2**30, 12 * 2**30), sizes)

Each device holds the weights and the KV cache of its layers, the first the embedding, the last the head; a table that
both share is on both. Activations and overhead are on each as on one device alone. llama.cpp calls this `--split-mode
layer`, vLLM does it by pipeline parallelism.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import accumulate, pairwise
from math import ceil
from typing import Any, NamedTuple

from archcalc.analyze.memory.deployment import Deployment, deploy
from archcalc.analyze.memory.peak import cached, peak
from archcalc.archs import family_module
from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.run.pipeline import Stage
from archcalc.spec.sizes import Sizes

MOVES = 64  # of a layer from one device to the next, until no device is relieved by it
SPLITS, STAGES = 128, 512  # that are remembered, the latest ones
Capacities = tuple[int, ...]


class Share(NamedTuple):
    """What one device holds."""

    capacity: int
    first: int  # layer
    last: int  # layer, not included
    required: int


def note(number: int) -> Assumption:
    text = (
        "layers are split by memory, one device after the other: each holds the weights and the KV cache of its"
        " own; activations and overhead are counted on each as on a single device"
    )
    return Assumption(Topic.PARALLELISM, text, number)


def fullest(deployment: Deployment, capacities: Capacities, sizes: Sizes) -> int:
    """Bytes of the fullest device, as if it were as large as the first, so that they can be compared with that."""
    found = shares(deployment, capacities, sizes)
    return max(ceil(share.required * capacities[0] / share.capacity) for share in found)


@lru_cache(maxsize=SPLITS)
def shares(deployment: Deployment, capacities: Capacities, sizes: Sizes) -> tuple[Share, ...]:
    """What each device holds: layers by memory, then moved one by one while that relieves the fullest device."""
    layers = _layers(deployment)
    if layers < len(capacities):
        fact = f"the model has {layers} layers, fewer than the {len(capacities)} devices"
        raise InputError(fact, "name fewer devices", field="--gpu")
    bounds = [0]  # the first layer of each device, and the end; every device has a layer at least
    for left, so_far in zip(reversed(range(len(capacities))), accumulate(capacities), strict=True):
        share = round(layers * so_far / sum(capacities))
        bounds.append(min(max(share, bounds[-1] + 1), layers - left))
    found = _shared(deployment, capacities, sizes, bounds)
    for _ in range(MOVES):
        others = [_shared(deployment, capacities, sizes, bounds) for bounds in _relieving(found)]
        better = min(others, key=_fill, default=found)
        if _fill(better) >= _fill(found):
            break
        found = better
    return found


def _layers(deployment: Deployment) -> int:
    family = deployment.network.spec.family
    module: Any = family_module(family)
    if not hasattr(module, "between"):
        raise InputError(f"archcalc does not split the layers of a {family} model", "name one device", field="--gpu")
    return int(module.layers(deployment.network.resolved))


def _shared(deployment: Deployment, capacities: Capacities, sizes: Sizes, bounds: list[int]) -> tuple[Share, ...]:
    whole = deployment.parameters.weights + _cache(deployment, sizes)
    on_each = peak(deployment, sizes).bytes - whole  # activations and overhead
    return tuple(
        Share(capacity, first, last, _held(deployment, first, last, sizes) + on_each)
        for capacity, (first, last) in zip(capacities, pairwise(bounds), strict=True)
    )


def _fill(found: tuple[Share, ...]) -> float:
    """The share of the fullest device that is needed."""
    return max(share.required / share.capacity for share in found)


def _relieving(found: tuple[Share, ...]) -> list[list[int]]:
    """The fullest device's first layer on the one before it, or its last on the one behind."""
    bounds = [*(share.first for share in found), found[-1].last]
    place = max(range(len(found)), key=lambda each: found[each].required / found[each].capacity)
    moved = [[*bounds[:end], bounds[end] + step, *bounds[end + 1 :]] for end, step in ((place, 1), (place + 1, -1))]
    inner = [each for each, end in zip(moved, (place, place + 1), strict=True) if 0 < end < len(found)]
    return [each for each in inner if all(first < last for first, last in pairwise(each))]


@lru_cache(maxsize=STAGES)
def _held(deployment: Deployment, first: int, last: int, sizes: Sizes) -> int:
    """Weights and cache of some layers, with the embedding or the head where they are the first or the last."""
    stage = _stage(deployment, first, last)
    return stage.parameters.weights + _cache(stage, sizes)


@lru_cache(maxsize=STAGES)
def _stage(deployment: Deployment, first: int, last: int) -> Deployment:
    module: Any = family_module(deployment.network.spec.family)
    resolved = module.between(deployment.network.resolved, first, last)
    number = 0 if first == 0 else 1 + (last == _layers(deployment))
    part = replace(deployment.network, resolved=resolved)
    return deploy(part, deployment.options, Stage(number, 3, first, last, resolved))


def _cache(deployment: Deployment, sizes: Sizes) -> int:
    """The KV cache and recurrent states alone."""
    return sum(entry.bytes for entry in cached(deployment, deployment.workload(sizes)))
