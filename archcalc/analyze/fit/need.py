"""What a device must have for a request, whether it fits there, and how that grows with the batch and the length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from math import ceil

from archcalc.analyze.fit.layer_split import fullest
from archcalc.analyze.fit.polynomial import Bytes
from archcalc.analyze.fit.request import Request
from archcalc.analyze.fit.solve import UNBOUNDED, Curve
from archcalc.analyze.fit.verdict import Room, missing
from archcalc.analyze.memory.peak import check, peak
from archcalc.core.errors import InputError
from archcalc.run.accuracy import Band, band
from archcalc.run.device import Device
from archcalc.spec.sizes import Sizes

FEW_SEQUENCES, FEW_POSITIONS = 2, 16  # from which on steps differ by their sizes alone: a loop's ends are its own steps
CURVES = 64  # that are remembered, the latest ones


def required(request: Request, sizes: Sizes | None = None) -> int:
    """What a device must have; of split layers the first, if all were as full as the fullest."""
    sizes = sizes or request.sizes
    if request.split:
        return fullest(request.deployment, request.split, sizes)
    return peak(request.deployment, sizes).required


def tensors(request: Request, sizes: Sizes | None = None) -> int:
    """The same without what the allocator adds."""
    if request.split:
        return required(request, sizes)
    return peak(request.deployment, sizes or request.sizes).bytes


def least(request: Request) -> int:
    """What is there whatever a step computes; of split layers nothing is known before they are dealt out."""
    return 0 if request.split else request.deployment.least_bytes


def host_bytes(request: Request) -> int:
    """Host RAM of what is offloaded, of all GPUs together."""
    found = peak(request.deployment, request.sizes).host if request.run.offload else None
    return found.bytes if found else 0


def measured(request: Request) -> Band | None:
    """The error of what is said to be needed; None where no such runs were measured."""
    return band(request.run)


def room(request: Request, device: Device) -> Room:
    """The memory of a device, with the error of what is said to be needed there."""
    error = measured(request)
    return Room(device.capacity, error.percent if error else None, missing(request.network))


def fits(request: Request, device: Device) -> bool:
    """Whether what is counted surely fits: with the error band to spare, and in the host RAM that was given."""
    safe, host = room(request, device).safe, request.options.host
    if least(request) > safe or (request.trains and tensors(request) > min(safe, device.capacity)):
        return False  # whatever a step and the allocator add, which take longer to work out
    return required(request) <= safe and (host is None or host_bytes(request) <= host)


@lru_cache(maxsize=CURVES)
def by_batch(request: Request) -> Curve:
    """Bytes as a function of the batch, at the same length."""
    return _curve(request, lambda batch: replace(request.sizes, batch=batch), FEW_SEQUENCES, UNBOUNDED)


def by_part(request: Request) -> Curve:
    """Bytes by the number of sequences at a time; in training the gradients of those before are there as well, of which
    more than two parts need no more. The allocator's share is that of the request itself."""
    if not request.trains:
        return by_batch(request)
    parts = replace(request, options=request.options.changed(accumulate=2))
    return _curve(parts, lambda batch: replace(request.sizes, batch=batch), FEW_SEQUENCES, UNBOUNDED, request)


@lru_cache(maxsize=CURVES)
def by_length(request: Request) -> Curve:
    """Bytes as a function of the length, at the same batch."""
    shortest = _shortest(request)

    def sizes(length: int) -> Sizes:
        return request.of_length(max(length, shortest))

    return _curve(request, sizes, FEW_POSITIONS, request.longest or UNBOUNDED)


def _curve(request: Request, sizes: Callable[[int], Sizes], few: int, most: int, asked: Request | None = None) -> Curve:
    """Of split layers, and of engines that fill a device, each size is asked for by itself."""
    if request.split or request.run.engine.fills_device:
        return Curve(lambda size: required(request, sizes(size)))
    deployment = request.deployment
    found = Bytes(
        lambda size: peak(deployment, sizes(size)).bytes, lambda size: peak(deployment, sizes(size)).step, few, most
    )
    if not request.trains:
        return Curve(found)
    return Curve(lambda size: ceil(found(size) * _reserve(asked or request)))


@lru_cache(maxsize=CURVES)
def _reserve(request: Request) -> Fraction:
    """What a device must have for a byte of tensors, at the sizes that were asked for: so a curve over many sizes is
    worked out, and a single answer simulates the allocator."""
    return Fraction(required(request), tensors(request) or 1)


def _shortest(request: Request) -> int:
    """A recursive net merges two at the least."""
    try:
        check(request.deployment, request.of_length(1))
    except InputError:
        return 2
    return 1


def longest_in(request: Request, available: int) -> tuple[int | None, str | None]:
    """The longest sequence that so many bytes hold, and whether memory or the model limits it."""
    if not request.varying:
        return None, None
    curve, most = by_length(request), request.longest
    if request.length:
        curve.at(request.length)  # which is known, and where the search begins
    if most and curve.at(most) <= available:
        return most, "positions"
    found = curve.largest(available, most or UNBOUNDED)
    return (None, None) if found == UNBOUNDED else (found, "memory")
