"""Formats of weights and caches, and their true size, quantisation scales included.

A format says what is stored for how many weights: Q4_K keeps 4 bits for each, 12 bits of scales for every 32 and 32
bits for every 256, which is 4.5. `archcalc.storage.named_formats` has all of them by name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from archcalc.core.count import Count
from archcalc.core.ir import Axes, Axis, Dim, Param
from archcalc.core.mesh import Plan
from archcalc.core.precision import BYTES
from archcalc.core.roles import Role
from archcalc.core.splits import Piece, joined
from archcalc.storage.gguf_mixtures import Rule, alike
from archcalc.storage.layer_numbers import LayerNumbers
from archcalc.storage.places import Facts, Place, Shape


@dataclass(frozen=True)
class Stored:
    """`bits` per `per` weights, or per tile (rows, columns); 0 stands for the whole axis.

    Scales of groups along the inputs are tiles of [1, 128], scales of rows [1, 0], one of a whole matrix [0, 0].
    """

    bits: int
    per: int = 1
    what: str = ""
    tile: tuple[int, int] | None = None

    def total(self, shape: Shape) -> int:
        """Size in bits; a partial group counts as a whole one."""
        if self.tile is None:
            return -(-shape.elements // self.per) * self.bits
        rows, columns = (-(-size // step) if step else 1 for size, step in zip(_sides(shape), self.tile, strict=True))
        return shape.stack * rows * columns * self.bits


def _sides(shape: Shape) -> tuple[int, int]:
    return shape.rows, shape.columns


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

    def total(self, place: Place, model: Facts, plan: Plan) -> int:
        """Bytes on one GPU of all copies of a parameter stored in this format."""
        return sum(self._copies(part, place, model, plan) for part in self._parts(place))

    def _parts(self, place: Place) -> tuple[Part, ...]:
        """The tensors that a file stores a matrix as: llama.cpp splits two kinds of matrices."""
        if self.is_blocked and place.role is Role.ATTENTION_KV_UP:
            return _lifting(place.param)
        if self.is_blocked and place.role is Role.DELTA_IN:
            return _entering(place.param)
        return (part_of(place.param),)

    def _copies(self, part: Part, place: Place, model: Facts, plan: Plan) -> int:
        shape, columns = self._padded(part.on(plan), part.called), part.on(Plan()).columns
        if not self.others:
            return place.copies * self._fitting(columns).bytes(shape)
        called = _called(part.called, model)
        roles = {called, "experts"} if place.role.is_expert else {called}
        layers = place.layers or LayerNumbers.up_to(place.copies)
        groups = [(group.number, next(iter(group))) for group in alike(layers, self.others, place.depth)]
        chosen = ((number, self._chosen(roles, layer, place.depth, model)) for number, layer in groups)
        return sum(number * one._fitting(columns).bytes(shape) for number, one in chosen)

    def _chosen(self, roles: set[str], layer: int, depth: int, model: Facts) -> Format:
        """The first rule that applies decides."""
        return next((other.format for other in self.others if other.holds(roles, layer, depth, model)), self)

    def _fitting(self, columns: int) -> Format:
        """If rows are not whole blocks, a fallback format; llama.cpp's last resort is fp16."""
        if not self.is_blocked or columns % self.block == 0:
            return self
        return self.instead._fitting(columns) if self.instead else plain("fp16")

    def bytes(self, shape: Shape) -> int:
        return -(-sum(stored.total(shape) for stored in self.stores) // 8)

    def bytes_of(self, elements: int) -> int:
        """Bits of that many weights in a row; a partial group counts as a whole one."""
        return -(-sum(stored.total(Shape(1, 1, elements)) for stored in self.stores) // 8)

    def _padded(self, shape: Shape, role: str) -> Shape:
        if not self.pad:
            return shape
        steps = [self.pad[name] for name in (("out", "ffn") if role == "ffn.down" else ("ffn", "in"))]
        rows, columns = (-(-size // step) * step for size, step in zip(_sides(shape), steps, strict=True))
        return Shape(shape.stack, rows, columns)

    @property
    def block(self) -> int:
        """How many weights are stored together."""
        return max((stored.per for stored in self.stores), default=1)

    @property
    def is_blocked(self) -> bool:
        """GGUF's formats: a row is made of whole blocks."""
        return self.quantises == "matrices"

    @property
    def bits_per_weight(self) -> Fraction:
        """Bits per weight of a large matrix, where scales per row and per matrix are negligible."""
        return sum((_bits(stored) for stored in self.stores), Fraction(0))

    has_buffers = False  # only a file of weights counts them among its bytes

    @property
    def is_quantised(self) -> bool:
        return self.quantises != "everything"

    def holds(self, place: Place) -> bool:
        """Whether a parameter is stored in this format; one-dimensional ones never are."""
        if self.quantises == "everything":
            return True
        if self.quantises == "experts":
            return place.role.is_expert
        if self.quantises == "linear and tables":
            return place.role.is_linear or place.role is Role.TOKEN_TABLE
        if place.role is Role.ROUTER:
            return False
        if self.quantises == "matrices":
            return place.role.is_linear or place.role is Role.TOKEN_TABLE
        if place.role.gives_scores:
            return self.quantises == "linear and head"
        return place.role.is_linear


def _called(role: str, model: Facts) -> str:
    """The role under which rules address a matrix that is shared (tied) or stored fused with others."""
    if model.tied and role == "table.token":
        return "head"
    return "attention.qkv" if model.fused_qkv and role in ("attention.q", "attention.k", "attention.v") else role


def _bits(stored: Stored) -> Fraction:
    if stored.tile is None:
        return Fraction(stored.bits, stored.per)
    rows, columns = stored.tile
    return Fraction(stored.bits, rows * columns) if rows and columns else Fraction(0)


@dataclass(frozen=True)
class Part:
    """Axes that are stored as one tensor."""

    axes: Axes
    called: str  # by the rules of mixtures

    def on(self, plan: Plan) -> Shape:
        """The matrix on one GPU; a vector counts as one row."""
        sizes = [1, 1, 1]
        for place, axis in enumerate(reversed(self.axes)):
            for dim in axis:
                sizes[min(place, 2)] *= plan.part(dim)
        return Shape(sizes[2], sizes[1], sizes[0])


def part_of(param: Param) -> Part:
    """A parameter that is stored as it is."""
    role = param.weight_role
    return Part(param.axes, "head" if role.gives_scores else role.plain.value)


def _lifting(param: Param) -> tuple[Part, ...]:
    """What lifts a latent vector to keys and to values: two stacks of matrices, one a head."""
    heads, both = param.axes[0]
    rank, value = param.axes[1], _read_behind(param)[-1]
    key = Dim("key", Count(int(both.size) - int(value.size)))
    return Part(((heads,), rank, (key,)), "other"), Part(((heads,), (value,), rank), "other")


def _entering(param: Param) -> tuple[Part, ...]:
    """What a gated delta net reads: queries, keys and values in one matrix, and the gate, as wide as the values."""
    (both,), into = param.axes
    assert both.split
    *rest, gate = both.split.pieces
    return Part(((_dim_of(*rest),), into), "attention.qkv"), Part(((_dim_of(gate),), into), "other")


def _dim_of(*pieces: Piece) -> Dim:
    return Dim("rows", Count(sum(piece.size for piece in pieces)), split=joined(*pieces))


def _read_behind(param: Param) -> Axis:
    """What the matrix behind attention reads: the values of all heads."""
    assert param.owner.parent
    beside = [other for child in param.owner.parent.children for other in child.params.values()]
    return next(other.axes[-1] for other in beside if other.weight_role is Role.ATTENTION_OUT)


def plain(name: str) -> Format:
    return Format(name, (Stored(8 * BYTES[name]),))
