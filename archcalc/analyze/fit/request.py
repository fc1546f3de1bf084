"""A request: a network, how it is run, and the sizes that were asked for. What fits is a function of it.

request = request_of(network, Options.of("fit", {"seq": 8192}))
placed_on(network, options, [group("2xh100")])                  requests of the devices of each `--gpu`
changed(request, change), over(request, tp=2, dp=1, cp=1)       other requests; nothing is changed in place
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from archcalc.analyze.fit.change import Change
from archcalc.analyze.fit.layer_split import note, shares
from archcalc.analyze.memory.deployment import MODES, Deployment, deployed
from archcalc.analyze.memory.peak import check
from archcalc.analyze.memory.report import MemoryReport
from archcalc.analyze.memory.reporting import report
from archcalc.analyze.placement import placed, shares_matrices
from archcalc.core.assumptions import Assumption
from archcalc.core.errors import InputError
from archcalc.core.progress import doing
from archcalc.network import Network
from archcalc.run.device import DeviceGroup
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options
from archcalc.run.shown import size_choices
from archcalc.spec.sizes import Sizes


class Varying(NamedTuple):
    """The lengths that are varied together."""

    names: tuple[str, ...]  # of those that a model leaves to choose: what was not given, or else the last
    asked: int | None  # for, or usual; None where there is none to choose, or several
    longest: int | None  # of the model; None if unlimited, or if a longer one than it was trained for was given


@dataclass(frozen=True)
class Request:
    """`split` has the memory of each device among which layers are split, where they are."""

    network: Network
    options: Options  # without sizes
    sizes: Sizes  # with the batch, and the length where the spec has one
    given: Sizes = field(default_factory=Sizes)  # as they were asked for
    split: tuple[int, ...] = ()

    @cached_property
    def deployment(self) -> Deployment:
        """The model in one piece."""
        return deployed(self.network, self.options)

    @property
    def batch(self) -> int:
        return self.sizes.batch or 1

    @cached_property
    def report(self) -> MemoryReport:
        """What `archcalc memory` says of it; of split layers, of all devices together."""
        found = report(self.deployment, self.sizes)
        asked = self.network.workload(**self.given.given(), mode=MODES[self.options.mode])
        sizes = {each.name: each for each in size_choices(asked, self.given.given())}
        return replace(found, choices=tuple(sizes.get(each.name, each) for each in found.choices))

    @cached_property
    def varying(self) -> Varying:
        """None where a model has no length to choose: an image's follows from its size."""
        limits, sizes = self.network.resolved.lengths, self.sizes
        free = [name for name, limit in limits.items() if not limit.fixed]
        names = [name for name in free if name == "seq" or not getattr(sizes, name)] or free[-1:]
        asked = None
        if len(names) == 1:
            given = getattr(sizes, names[0]) or sizes.seq
            asked = given or self.deployment.workload(sizes).lengths[names[0]]
        # In decode the new token takes the last row of a table.
        decodes, varied = self.options.mode == "decode", [limits[name] for name in names]
        longest = min((limit.length - (decodes and limit.hard) for limit in varied if limit.length), default=None)
        most = max(sizes.seq or 0, sizes.src_seq or 0, sizes.tgt_seq or 0)
        return Varying(tuple(names), asked, None if longest is None or most > longest else longest)


class Placed(NamedTuple):
    """Devices, what is asked of them, and what was chosen for them."""

    group: DeviceGroup
    request: Request
    notes: tuple[Assumption, ...] = ()


def placed_on(
    network: Network, options: Options, groups: Iterable[DeviceGroup], *, are_named: bool = True
) -> list[Placed]:
    """By the plan that was given, or one that is chosen and said. Devices that a user names decide what runs on them; a
    list of usual ones does not. Those on which the run is the same share a request."""
    found: list[Placed] = []
    for group in groups:
        chosen = placed(network, options, group)
        split: tuple[int, ...] = ()
        if chosen is None:
            chosen = replace(options, device=DeviceFacts.of(group.first, group))
            split = tuple(device.capacity for _, device in group.each)
        request = request_of(network, chosen if are_named else replace(chosen, device=None), split)
        others = [each.request for each in found if each.request.split == split]
        alike = [other for other in others if other.deployment.run == request.deployment.run]
        found.append(Placed(group, (*alike, request)[0], (note(group.count),) if split else ()))
    return found


def request_of(network: Network, options: Options, split: tuple[int, ...] = ()) -> Request:
    """With the usual batch, and a context as the length that it is for a step of the whole sequence."""
    if options.plan.pp > 1:
        hint = "leave --pp out; `archcalc memory --pp` tells what the largest stage takes"
        raise InputError("fit does not look for the sizes of pipeline stages", hint, field="--pp")
    sizes, spec = options.sizes, network.spec
    if sizes.context:
        network.workload(**sizes.given(), mode="decode")  # for its errors
        *_, last = network.resolved.lengths
        sizes = replace(sizes, context=None, **{last: sizes.context})
    sizes = replace(sizes, batch=sizes.batch or spec.batch or 1, seq=sizes.seq or spec.seq)
    return Request(network, replace(options, sizes=Sizes()), sizes, options.sizes, split)


def with_options(request: Request, options: Options) -> Request:
    """Placed anew where archcalc chose the plan, and the format brings an engine that splits layers instead."""
    devices = options.device.group if options.device else None
    whole = replace(options, tp=None, is_planned=False)
    if not options.is_planned or not devices or request.options.trains or shares_matrices(request.network, whole):
        return replace(request, options=options)
    return replace(request, options=whole, split=tuple(device.capacity for _, device in devices.each))


def changed(request: Request, change: Change) -> Request:
    """The same request with one change applied."""
    sizes = replace(request.sizes, batch=change.batch or request.batch)
    if change.length:
        sizes = replace(sizes, **dict.fromkeys(request.varying.names, change.length))
    return replace(with_options(request, request.options.changed(**change.options)), sizes=sizes)


def tried(request: Request, change: Change) -> Request | None:
    """The same, if the model and the options allow the change."""
    doing(f"trying {change.option or change.name}")
    try:
        return checked(changed(request, change))
    except InputError:
        return None


def checked(request: Request) -> Request:
    """Refused here where a simulation would be."""
    check(request.deployment, request.sizes)
    if request.split:
        shares(request.deployment, request.split, request.sizes)
    return request


def over(request: Request, *, tp: int, dp: int, cp: int) -> Request:
    """The same over so many GPUs; training with ZeRO-3."""
    mesh = {name: number if number > 1 else None for name, number in (("tp", tp), ("dp", dp), ("cp", cp))}
    zero = 3 if request.options.trains and dp * cp > 1 else None
    options = request.options.changed(**mesh, sp=request.options.sp if tp > 1 else None, zero=zero)
    return replace(request, options=options)
