"""How a checkpoint stores its weights, module by module, according to its quantization_config.

A method quantises linear layers except some: the head, the router, and modules listed by their names in the
checkpoint. Every matrix is looked up layer by layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from archcalc.core.budget import Budget
from archcalc.core.mesh import Plan
from archcalc.core.roles import Role
from archcalc.storage.format import Format, plain, shape_on
from archcalc.storage.layer_numbers import LayerNumbers
from archcalc.storage.module_names import Names
from archcalc.storage.places import Facts, Place
from archcalc.storage.quantization_config.modules import modules

HEAD = "lm_head"
LINEAR = "Linear"  # the target that stands for every linear layer
MOST_LAYERS = 10_000  # of which each may be stored in its own way; the deepest models that are published have some 200


@dataclass(frozen=True)
class Group:
    """Modules stored in one format; unquantised if the format is None."""

    format: Format | None
    targets: Names = field(default_factory=lambda: Names((LINEAR,)))
    whole: int = 0  # matrices whose inputs are no multiple of it stay as they are; 0: all are quantised


@dataclass(frozen=True)
class Checkpoint:
    """`name` is shown to users; `unknown` says why the bytes of a method cannot be counted."""

    name: str
    groups: tuple[Group, ...] = ()
    skipped: Names = field(default_factory=lambda: Names(()))
    quantises: str = "linear"  # or "experts", or "linear and tables", which is every matrix, the router too
    head: bool = False  # is quantised too
    rest: str = ""
    source: str = ""  # where it is said, where that is not in the spec
    unknown: str = ""
    dequantised_copies: int = 0  # 16-bit copies of a matrix that a product of several tokens allocates
    layout: str = ""  # the named format that engines' kernels may lay out anew

    _asked: dict[int, Hashable] = field(default_factory=dict, init=False, compare=False, repr=False)

    is_quantised = True
    has_buffers = False
    file_kind = ""
    estimate = ""  # how a GPU's share is worked out, where that is an assumption

    @property
    def note(self) -> str:
        """A note for reports of bytes."""
        stored = f"the weights are stored quantised ({self.name})"
        return f"{stored}: {self.unknown}; set the format to count with --weights" if self.unknown else stored

    def holds(self, place: Place) -> bool:
        """Whether a parameter is quantised in at least one layer; `total` decides layer by layer."""
        if self.quantises == "linear and tables":
            return place.role.is_linear or place.role.is_table
        if self.quantises == "experts":
            return place.role.is_expert
        if place.role is Role.ROUTER:
            return False
        return place.role.is_linear and (self.head or not place.role.gives_scores)

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes of all copies on one GPU; layers to which the same rules apply are computed once."""
        shape = shape_on(plan, place.param.axes)
        if not any(names.by_layer for names in self._lists):
            return place.copies * self._format(place, 0).bytes(shape)
        numbers = place.layers or LayerNumbers.up_to(place.copies)
        what, hint = f"layers, for which {self.source} has rules", "choose the format to count, such as --weights bf16"
        Budget(what, MOST_LAYERS, hint, field="--weights").spend(numbers.number)
        layers = list(numbers)
        for layer in layers:  # the rules that apply to it, looked up once for all its matrices
            if layer not in self._asked:
                self._asked[layer] = tuple(names.of_layer(layer) for names in self._lists)
        rules = [self._asked[layer] for layer in layers]
        times = Counter(rules)
        first = dict(zip(reversed(rules), reversed(layers), strict=True))
        return sum(times[said] * self._format(place, layer).bytes(shape) for said, layer in first.items())

    def unfound(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Modules excluded from quantisation that the model does not have, or has under another name."""
        return self.skipped.unfound(name for place in places if place.role.is_linear for name in modules(place))

    @cached_property
    def _lists(self) -> tuple[Names, ...]:
        return (self.skipped, *(group.targets for group in self.groups))

    def _format(self, place: Place, layer: int) -> Format:
        """The format of the first group that matches the module; none if the module is excluded."""
        called, outside = modules(place), not place.layers

        def named(names: Names) -> bool:
            return any(map(names.hold_outside, called)) if outside else names.hold(layer, called)

        if named(self.skipped):
            return plain(self.rest)
        for group in self.groups:
            if LINEAR in group.targets.listed or named(group.targets):
                # unquantised if the group says so, or if its group size does not divide the inputs
                columns = shape_on(Plan(), place.param.axes).columns
                divides = not group.whole or columns % group.whole == 0
                return (group.format if divides else None) or plain(self.rest)
        return plain(self.rest)
