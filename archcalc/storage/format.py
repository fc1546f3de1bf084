"""Formats of weights and caches, and their true size, quantisation scales included.

A format says what is stored for how many weights: Q4_K keeps 4 bits for each, 12 bits of scales for every 32 and 32
bits for every 256, which is 4.5. `archcalc.storage.named_formats` has all of them by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import prod

from archcalc.core.count import Count
from archcalc.core.ir import Axes, Dim, Param
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.core.splits import Piece, joined
from archcalc.storage.layer_numbers import LayerNumbers
from archcalc.storage.places import Facts, Place, Shape

THIRD = 3  # llama.cpp spends more bits on every third of some layers
BLOCKED = "matrices"  # what GGUF's formats quantise, of which a row is made of whole blocks


@dataclass(frozen=True)
class Stored:
    """`bits` per `per` weights, or per tile (rows, columns); 0 stands for the whole axis.

    Scales of groups along the inputs are tiles of [1, 128], scales of rows [1, 0], one of a whole matrix [0, 0].
    """

    bits: int
    per: int = 1
    what: str = ""
    tile: tuple[int, int] | None = None


@dataclass(frozen=True)
class Rule:
    """Of a GGUF file that mixes formats: matrices of all layers, some layers (`where`), or some models (`when`)."""

    roles: tuple[str, ...]
    where: str = ""
    when: tuple[str, ...] = ()

    def holds(self, roles: set[str], layer: int, depth: int, model: Facts) -> bool:
        here = not roles.isdisjoint(self.roles) and self._in(layer, depth)
        return here and all(CONDITIONS[word](model, depth) for word in self.when)

    def _in(self, layer: int, depth: int) -> bool:
        """`first 2`, `first 1/8`, `middle` (without the first and the last eighth), or `more`, as llama.cpp spends more
        bits on the first and the last eighth and on every third between."""
        bounds = self.bounds(depth)
        if self.where == "more":
            return layer < bounds[0] or layer >= bounds[1] or (layer - bounds[0]) % THIRD == THIRD - 1
        if self.where == "middle":
            return bounds[0] <= layer < bounds[1]
        return not bounds or layer < bounds[0]

    def bounds(self, depth: int) -> tuple[int, ...]:
        """The layers before which the rule may change, but for every third."""
        if self.where in ("more", "middle"):
            return depth // 8, 7 * depth // 8
        if not self.where.startswith("first "):
            return ()
        share = Fraction(self.where.removeprefix("first "))
        return (int(share) if share >= 1 else int(depth * share),)


@dataclass(frozen=True)
class Other(Rule):
    """Matrices that a mixture stores in another format."""

    format: Format = field(kw_only=True)


@dataclass(frozen=True)
class Format:
    """`quantises` says which parameters: everything, matrices (tables too), linear (of the blocks), linear and head,
    linear and tables (with head and router), or experts."""

    name: str
    stores: tuple[Stored, ...]
    quantises: str = "everything"
    rest: str = ""  # what the other parameters are kept in; unsaid: as the activations
    source: str = ""
    others: tuple[Other, ...] = ()
    instead: Format | None = None  # where rows are no whole blocks
    pad: dict[str, int] = field(default_factory=dict, hash=False)  # ffn, in and out to multiples, as kernels want them
    dequantised_copies: int = 0  # 16-bit copies of a matrix that a product of several tokens allocates
    towers: str = "left"  # what becomes of those of a model that writes text: left as they are, or quantised

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes on one GPU of all copies of a parameter stored in this format."""
        param, role = place.param, place.param.weight_role
        if self.leaves(place):  # to a GGUF file of their own, whose matrices have 16 bits
            return plain("fp16").total(place, model, plan)
        parts: tuple[Part, ...] = ((param.axes, "head" if role.gives_scores else role.plain.value),)
        if self.quantises == BLOCKED and role in SPLIT:
            parts = SPLIT[role](param)
        return sum(self._copies(axes, called, place, model, plan) for axes, called in parts)

    def _copies(self, axes: Axes, called: str, place: Place, model: Facts, plan: Plan) -> int:
        shape, columns = shape_on(plan, axes), shape_on(Plan(), axes).columns
        if self.pad:
            out, into = (self.pad[name] for name in (("out", "ffn") if called == "ffn.down" else ("ffn", "in")))
            shape = Shape(shape.stack, -(-shape.rows // out) * out, -(-shape.columns // into) * into)
        if model.tied and called == "table.token":  # rules address a matrix that is shared, or stored fused with others
            called = "head"
        elif model.fused_qkv and called in ("attention.q", "attention.k", "attention.v"):
            called = "attention.qkv"
        chosen = [(place.copies, self)]
        if self.others:
            roles = {called, "experts"} if place.role.is_expert else {called}
            layers, chosen = place.layers or LayerNumbers.up_to(place.copies), []
            for group in alike(layers, self.others, place.depth):
                rules = (one for one in self.others if one.holds(roles, next(iter(group)), place.depth, model))
                chosen.append((group.number, next((one.format for one in rules), self)))  # the first one decides
        found = 0
        for copies, kept in chosen:
            while kept.quantises == BLOCKED and columns % kept.block:  # rows are no whole blocks: a fallback format
                kept = kept.instead or plain("fp16")  # llama.cpp's last resort
            found += copies * kept.bytes(shape)
        return found

    def bytes(self, shape: Shape) -> int:
        """A partial group counts as a whole one."""
        bits = 0
        for stored in self.stores:
            if stored.tile is None:
                bits += -(-shape.stack * shape.rows * shape.columns // stored.per) * stored.bits
            else:
                sides = zip((shape.rows, shape.columns), stored.tile, strict=True)
                rows, columns = (-(-size // step) if step else 1 for size, step in sides)
                bits += shape.stack * rows * columns * stored.bits
        return -(-bits // 8)

    def bytes_of(self, elements: int) -> int:
        """Those of that many weights in a row; a partial group counts as a whole one."""
        return self.bytes(Shape(1, 1, elements))

    @property
    def block(self) -> int:
        """How many weights are stored together."""
        return max((stored.per for stored in self.stores), default=1)

    @property
    def bits_per_weight(self) -> Fraction:
        """Bits per weight of a large matrix, where scales per row and per matrix are negligible."""
        sizes = [(one.bits, one.per if one.tile is None else prod(one.tile)) for one in self.stores]
        return sum((Fraction(bits, weights) for bits, weights in sizes if weights), Fraction(0))

    has_buffers = False  # only a file of weights counts them among its bytes

    @property
    def is_quantised(self) -> bool:
        return self.quantises != "everything"

    def leaves(self, place: Place) -> bool:
        """Whether a parameter is a tower's, which this format is not for."""
        return self.is_quantised and self.towers == "left" and bool(place.param.owner.medium)

    def holds(self, place: Place) -> bool:
        """Whether a parameter is stored in this format; one-dimensional ones never are."""
        role = place.param.weight_role
        if self.quantises == "everything":
            return True
        if self.leaves(place):
            return self.quantises == BLOCKED and role.is_linear
        if self.quantises == "experts":
            return role.is_expert
        if role is Role.ROUTER:
            return self.quantises == "linear and tables"
        if self.quantises in ("linear and tables", BLOCKED):
            return role.is_linear or role is Role.TOKEN_TABLE
        if role.gives_scores:
            return self.quantises == "linear and head"
        return role.is_linear


def alike(layers: LayerNumbers, rules: Iterable[Rule], depth: int) -> Iterator[LayerNumbers]:
    """The layers in groups that no rule tells apart, so that a group costs as much as a layer."""
    bounds = sorted({0, layers.end, *(bound for rule in rules for bound in rule.bounds(depth))})
    parts = (layers.between(*ends) for ends in pairwise(bounds))
    groups = (part.every(THIRD, remainder) for part in parts for remainder in range(THIRD))
    return (group for group in groups if group)


CONDITIONS = {  # of llama.cpp: n_gqa, n_expert and, for the last, the 80 layers by which it knows a 70B
    "grouped": lambda model, depth: model.grouping >= 4,
    "several experts": lambda model, depth: model.experts >= 4,
    "8 experts": lambda model, depth: model.experts == 8,
    "70B": lambda model, depth: depth == 80 and model.grouping > 1,
}

Part = tuple[Axes, str]  # axes that are stored as one tensor, and what the rules of mixtures call it


def shape_on(plan: Plan, axes: Axes) -> Shape:
    """The matrix on one GPU; a vector counts as one row."""
    sizes = [1, 1, 1]
    for place, axis in enumerate(reversed(axes)):
        for dim in axis:
            sizes[min(place, 2)] *= plan.part(dim)
    return Shape(sizes[2], sizes[1], sizes[0])


def _lifting(param: Param) -> tuple[Part, ...]:
    """What lifts a latent vector to keys and to values: two stacks of matrices, one a head."""
    heads, both = param.axes[0]
    assert param.owner.parent
    beside = [other for child in param.owner.parent.children for other in child.params.values()]
    # what the matrix behind attention reads are the values of all heads
    behind = next(other.axes[-1] for other in beside if other.weight_role is Role.ATTENTION_OUT)
    rank, value = param.axes[1], behind[-1]
    key = Dim("key", Count(int(both.size) - int(value.size)))
    return (((heads,), rank, (key,)), "other"), (((heads,), (value,), rank), "other")


def _entering(param: Param) -> tuple[Part, ...]:
    """What a gated delta net reads: queries, keys and values in one matrix, and the gate, as wide as the values."""
    (both,), into = param.axes
    assert both.split
    *rest, gate = both.split.pieces
    return (((_dim_of(*rest),), into), "attention.qkv"), (((_dim_of(gate),), into), "other")


def _dim_of(*pieces: Piece) -> Dim:
    return Dim("rows", Count(sum(piece.size for piece in pieces)), split=joined(*pieces))


SPLIT = {Role.ATTENTION_KV_UP: _lifting, Role.DELTA_IN: _entering}  # kinds of matrices that llama.cpp stores in parts


def plain(name: str) -> Format:
    return Format(name, (Stored(8 * BYTES[name]),))
