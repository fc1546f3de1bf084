"""What a device must have for a request, and whether it fits there."""

from __future__ import annotations

from archcalc.analyze.fit.layer_split import fullest
from archcalc.analyze.fit.request import Request
from archcalc.analyze.fit.verdict import Room
from archcalc.analyze.memory.peak import peak
from archcalc.run.accuracy import Band, band
from archcalc.run.device import Device
from archcalc.spec.scope import LeftOut, listed
from archcalc.spec.sizes import Sizes
from archcalc.spec.units import binary_bytes


def required(request: Request, sizes: Sizes | None = None) -> int:
    """What a device must have; of split layers the first, if all were as full as the fullest."""
    sizes = sizes or request.sizes
    if request.split:
        return fullest(request.deployment, request.split, sizes)
    return peak(request.deployment, sizes).required


def tensors(request: Request) -> int:
    """The same without what the allocator adds."""
    if request.split:
        return required(request)
    return peak(request.deployment, request.sizes).bytes


def cached(request: Request) -> int:
    """Of what a training step requires, what PyTorch's allocator keeps beyond what is allocated."""
    return required(request) - tensors(request) if request.options.trains else 0


def host_bytes(request: Request) -> int:
    """Host RAM of what is offloaded, of all GPUs together."""
    if not request.deployment.run.offload:
        return 0
    found = peak(request.deployment, request.sizes).host
    return found.bytes if found else 0


def measured(request: Request) -> Band | None:
    """The error of what is said to be needed; None where no such runs were measured."""
    return band(request.deployment.run, lambda: peak(request.deployment, request.sizes).parts)


def needed_parts(request: Request) -> list[LeftOut]:
    """Of the parts of a model that are not counted, those that the run needs; a training code builds the whole."""
    run, left_out = request.deployment.run, request.network.scope.left_out
    if run.trains:
        return list(left_out)
    skipped = set(run.engine.rules.leaves_out)
    if request.options.draft:
        skipped -= {"drafts"}
    return [each for each in left_out if each.needed not in skipped]


def room(request: Request, device: Device) -> Room:
    """The memory of a device, with the error of what is said to be needed there."""
    error, parts = measured(request), needed_parts(request)
    missing = list[str]()
    if parts:
        missing.append(listed(parts))
    if not request.network.spec.is_computed:
        missing.append("activations and KV cache, since a list of tensors does not describe the computation")
    percent = error.percent if error else None
    return Room(device.capacity, percent, " and ".join(missing), _crowded(request, device))


def _crowded(request: Request, device: Device) -> str:
    """CUDA graphs that an engine captures once it has filled its share of the device, where they may not fit."""
    engine = request.deployment.run.engine
    graphs = engine.graphs_outside(request.deployment.layers)
    left = device.capacity - int(engine.share * device.capacity)
    if graphs <= left or engine.rules.pool != "share":
        return ""
    needed, there = binary_bytes(graphs), binary_bytes(left)
    return f"CUDA graphs take about {needed} outside of the share, which leaves {there} (--gpu-memory-utilization)"


def fits(request: Request, device: Device) -> bool:
    """Whether what is counted surely fits: with the error band to spare, and in the host RAM that was given."""
    there, host = room(request, device), request.options.host
    if there.crowded:
        return False
    # What is there whatever a step computes; of split layers nothing is known before they are dealt out.
    least = 0 if request.split else request.deployment.least_bytes
    if least > there.safe or (request.options.trains and tensors(request) > min(there.safe, device.capacity)):
        return False  # whatever a step and the allocator add, which take longer to work out
    return required(request) <= there.safe and (host is None or host_bytes(request) <= host)
