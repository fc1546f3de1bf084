"""How the weights of a real checkpoint are kept, module by module: what its config says of quantisation.

A method quantises linear layers, and leaves some as they are: the head, the router, and those that a list names, by the
names that modules have in the checkpoint. Every matrix is asked layer by layer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property

from archcalc.core.errors import InputError
from archcalc.core.mesh import Plan
from archcalc.core.roles import Role
from archcalc.storage.format import Format, part_of, plain
from archcalc.storage.module_names import Names
from archcalc.storage.places import Facts, Place

HEAD = "lm_head"
LINEAR = "Linear"  # the target that stands for every linear layer
MOST_LAYERS = 10_000  # of which each may be stored in its own way; the deepest models that are published have some 200


@dataclass(frozen=True)
class Group:
    """Modules that are kept in one format; without one they stay as they are."""

    format: Format | None
    targets: Names = field(default_factory=lambda: Names((LINEAR,)))
    whole: int = 0  # matrices whose inputs are no multiple of it stay as they are; 0: all are quantised

    @property
    def all_linear(self) -> bool:
        return LINEAR in self.targets.listed


@dataclass(frozen=True)
class Checkpoint:
    """`name` is what a reader is told; `unknown` says why the bytes of a method cannot be told."""

    name: str
    groups: tuple[Group, ...] = ()
    skipped: Names = field(default_factory=lambda: Names(()))
    quantises: str = "linear"  # or "experts", or "linear and tables", which is every matrix, the router too
    head: bool = False  # is quantised too
    rest: str = ""
    source: str = ""  # where it is said, where that is not in the spec
    unknown: str = ""
    dequantised_copies: int = 0  # 16-bit copies of a matrix that a product of several tokens allocates

    is_quantised = True
    has_buffers = False
    estimate = ""  # how a GPU's share is worked out, where that is an assumption

    @property
    def note(self) -> str:
        """What a reader of bytes must know."""
        stored = f"the weights are stored quantised ({self.name})"
        return f"{stored}: {self.unknown}; set the format to count with --weights" if self.unknown else stored

    def holds(self, place: Place) -> bool:
        """Whether a parameter may be quantised, in some layer; the answer for each is `total`'s."""
        if self.quantises == "linear and tables":
            return place.role.is_linear or place.role.is_table
        if self.quantises == "experts":
            return place.role.is_expert
        if place.role is Role.ROUTER:
            return False
        return place.role.is_linear and (self.head or not place.role.gives_scores)

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes of all copies on one GPU; layers of which the lists say the same are asked once."""
        shape = part_of(place.param).on(plan)
        if not self._by_layer:
            return place.copies * self._format(place, 0).bytes(shape)
        layers = place.layers or range(place.copies)
        if len(layers) > MOST_LAYERS:
            fact = f"{len(layers):,} layers are too many for {self.source}, which has rules for single layers"
            raise InputError(fact, "choose the format to count, such as --weights bf16", field="--weights")
        rules = [self._of_layer(layer) for layer in layers]
        times = Counter(rules)
        first = dict(zip(reversed(rules), reversed(layers), strict=True))
        return sum(times[said] * self._format(place, layer).bytes(shape) for said, layer in first.items())

    def unfound(self, places: Iterable[Place]) -> tuple[str, ...]:
        """Modules to be left as they are that the model does not have, or has under another name."""
        return self.skipped.unfound(name for place in places if place.role.is_linear for name in _modules(place))

    @cached_property
    def _by_layer(self) -> bool:
        return any(names.by_layer for names in self._lists)

    @cached_property
    def _lists(self) -> tuple[Names, ...]:
        return (self.skipped, *(group.targets for group in self.groups))

    def _of_layer(self, layer: int) -> Hashable:
        """What all lists say of a layer, asked once for all matrices in it."""
        if layer not in self._asked:
            self._asked[layer] = tuple(names.of_layer(layer) for names in self._lists)
        return self._asked[layer]

    @cached_property
    def _asked(self) -> dict[int, Hashable]:
        return {}

    def _format(self, place: Place, layer: int) -> Format:
        """That of the first group that names the module, unless it is left as it is."""
        modules, outside = _modules(place), not place.layers

        def named(names: Names) -> bool:
            return any(map(names.hold_outside, modules)) if outside else names.hold(layer, modules)

        if named(self.skipped):
            return plain(self.rest)
        for group in self.groups:
            if group.all_linear or named(group.targets):
                return self._of_group(group, place)
        return plain(self.rest)

    def _of_group(self, group: Group, place: Place) -> Format:
        """Plain where the group leaves its modules as they are, or cannot divide their inputs."""
        columns = part_of(place.param).on(Plan()).columns
        divides = not group.whole or columns % group.whole == 0
        return (group.format if divides else None) or plain(self.rest)


def _modules(place: Place) -> tuple[str, ...]:
    from archcalc.storage.quantization_config.modules import modules

    return modules(place)
