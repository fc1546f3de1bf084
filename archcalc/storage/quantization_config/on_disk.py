"""The weights as files beside a config hold them: their bytes, shared out over the parameters of the config's model.

A parameter has its share of the files' bytes in proportion to what the config says of it. So the total is the files',
and where the config says the same, every parameter has exactly its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate, pairwise

from archcalc.core.ir import Module, Param, walk
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.storage.places import Facts, Place
from archcalc.storage.weight_storage import WeightStorage


@dataclass(frozen=True)
class OnDisk:
    """What `archcalc.storage.format.Format` is for a format, this is for files; `usual` is what their config says."""

    name: str
    source: str
    bytes: int
    usual: WeightStorage
    shares: Mapping[str, int]
    rest: str
    has_buffers: bool = False  # of what steers routers, among the bytes

    unknown = ""
    estimate = "assumes that tensor parallelism splits the weight files in proportion to the config's parameters"
    layout = ""
    file_kind = ""

    @property
    def is_quantised(self) -> bool:
        return self.usual.is_quantised

    @property
    def dequantised_copies(self) -> int:
        return self.usual.dequantised_copies

    @property
    def note(self) -> str:
        """A note for reports of bytes."""
        return f"the weights take {self.bytes:,} bytes in {self.source}"

    def holds(self, place: Place) -> bool:
        return _called(place.param) in self.shares

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes of all copies on one GPU."""
        share, whole = self.shares[_called(place.param)], taken(place, self.usual, self.rest, model, Plan())
        here = taken(place, self.usual, self.rest, model, plan)
        return -(-share * here // whole) if whole else 0


def taken(place: Place, usual: WeightStorage, rest: str, model: Facts, plan: Plan) -> int:
    """A parameter's bytes by the config: quantised, or in the usual precision."""
    if usual.holds(place):
        return usual.total(place, model, plan)
    return place.copies * plan.size(place.param) * BYTES[rest]


def shared_out(root: Module, total: int, usual: WeightStorage, rest: str, model: Facts) -> dict[str, int]:
    """Distribute the bytes over all parameters in whole numbers that add up to the total."""
    places = [Place(param, int(copies)) for module, copies in walk(root) for param in module.params.values()]
    each = [taken(place, usual, rest, model, Plan()) for place in places]
    whole = max(1, sum(each))
    reached = [0, *(total * below // whole for below in accumulate(each))]
    parts = [after - before for before, after in pairwise(reached)]
    return {_called(place.param): part for place, part in zip(places, parts, strict=True)}


def _called(param: Param) -> str:
    return f"{param.owner.path}.{param.name}"
