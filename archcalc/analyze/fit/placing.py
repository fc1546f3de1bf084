"""How a model is put on the devices of each `--gpu`: the plan that was given, or the one that is chosen and said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from archcalc.analyze.fit.layer_split import note
from archcalc.analyze.fit.request import Request, request_of
from archcalc.analyze.placement import placed
from archcalc.core.assumptions import Assumption
from archcalc.network import Network
from archcalc.run.device import DeviceGroup
from archcalc.run.engine.on_device import DeviceFacts
from archcalc.run.options import Options


@dataclass(frozen=True)
class Placed:
    """Devices, what is asked of them, and what was chosen for them."""

    group: DeviceGroup
    request: Request
    notes: tuple[Assumption, ...] = ()

    @property
    def capacity(self) -> int:
        """Of the device that the request is about: of split layers, the first."""
        return self.group.first.capacity


def placed_on(
    network: Network, options: Options, groups: Iterable[DeviceGroup], *, are_named: bool = True
) -> list[Placed]:
    """Devices that a user names decide what runs on them; a list of usual ones does not. Those on which the run is the
    same share a request."""
    found: list[Placed] = []
    for group in groups:
        chosen = placed(network, options, group)
        split: tuple[int, ...] = ()
        if chosen is None:
            chosen = replace(options, device=DeviceFacts.of(group.first, group))
            split = tuple(device.capacity for _, device in group.each)
        request = request_of(network, chosen if are_named else replace(chosen, device=None), split)
        alike = [each.request for each in found if each.request.split == split and each.request.run == request.run]
        found.append(Placed(group, (*alike, request)[0], (note(group.count),) if split else ()))
    return found
