"""Dims that have names, and tensors along them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from archcalc.core.count import Count, product
from archcalc.core.expression import Leaf
from archcalc.core.positions import Positions, Reach
from archcalc.core.splits import Split


@dataclass(frozen=True)
class Dim:
    """A named axis. `copies` marks a dim that counts equal copies (heads, experts, gates), which people factor out.

    `split` declares how tensor parallelism divides it, nothing that every GPU holds all of it; `positions` what its
    places are, if they are positions of a sequence, and `reach` how far back attention looks along them, if it is
    limited; `dealt`, that expert parallelism gives every GPU some of them; `every`, how many positions one place stands
    for, where they are compressed.
    """

    name: str
    size: Count
    copies: bool = False
    split: Split | None = None
    positions: Positions | None = None
    reach: Reach | None = None
    dealt: bool = False
    every: int = 1

    def __post_init__(self) -> None:
        pieces = self.split.pieces if self.split else ()
        if pieces and sum(piece.size for piece in pieces) != self.size:
            raise ValueError(f"{self.name} has {self.size} elements, its pieces {[piece.size for piece in pieces]}")

    @classmethod
    def of(
        cls,
        name: str,
        size: int,
        *,
        copies: bool = False,
        split: Split | None = None,
        positions: Positions | None = None,
        dealt: bool = False,
    ) -> Dim:
        """A size that was worked out stays so under the dim's name: at other sizes it is another."""
        source = size.formula if isinstance(size, Count) else None
        number = Count(size, Leaf(int(size), name, copies, source=source))
        return cls(name, number, copies, split, positions, dealt=dealt)


Axis = tuple[Dim, ...]  # the dims that PyTorch keeps merged in one axis, such as (heads, head_dim)
Axes = tuple[Axis, ...]


def axes(*items: Dim | Axis) -> Axes:
    """`axes(batch, seq, (heads, head_dim))`: three axes, the last one merged of two dims."""
    return tuple([(item,) if isinstance(item, Dim) else item for item in items])


@dataclass(frozen=True, eq=False, repr=False)
class Tensor:
    """A tensor that forward code passes on. Compared by identity; a view (of another, `of`) owns no memory of its own.

    `role` becomes bytes through a precision policy: act, mask, index, stat, upcast, cache, seed, buffer, param.
    `grad` is for what enters the model; whether anything else wants a gradient follows from its inputs
    (`archcalc.core.execution`).
    """

    axes: Axes
    role: str = "act"
    grad: bool = False
    stops: bool = False  # no gradient goes through it to what it is a view of
    of: Tensor | None = None  # what it is a view of, which may be a view itself
    of_values: bool = False  # of a cache: attention's values, and not its keys
    stored: int | None = None  # bytes in the file of weights that it was read from
    dims: tuple[Dim, ...] = field(init=False)  # of all axes, in a row
    storage: Tensor = field(init=False)  # the tensor that owns the memory: itself, or that of what it is a view of

    def __post_init__(self) -> None:
        dims = tuple(chain.from_iterable(self.axes))
        object.__setattr__(self, "dims", dims)
        object.__setattr__(self, "storage", self.of.storage if self.of else self)
        if len({dim.name for dim in dims}) < len(dims):
            raise ValueError(f"two dims of one name in a tensor: {' '.join(dim.name for dim in dims)}")

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes as PyTorch shows them, merged axes as one."""
        return tuple(int(product([dim.size for dim in axis])) for axis in self.axes)

    def __repr__(self) -> str:
        """Its axes, `d_model 768` or merged `heads·head_dim 12·64`, behind its name where it is a parameter."""
        names = ["·".join(dim.name for dim in axis) for axis in self.axes]
        sizes = ["·".join(str(int(dim.size)) for dim in axis) for axis in self.axes]
        return f"{getattr(self, 'name', '')}[{', '.join(map(' '.join, zip(names, sizes, strict=True)))}]"

    def dim(self, name: str) -> Dim:
        return next(dim for dim in self.dims if dim.name == name)

    @cached_property
    def size(self) -> Count:
        """How many elements."""
        return product([dim.size for dim in self.dims])

    def seen_as(self, *items: Dim | Axis) -> Tensor:
        """The same storage under other axes: split, merged, transposed or renamed."""
        return Tensor(axes(*items), self.role, stops=self.stops, of=self)

    def detached(self) -> Tensor:
        """A detached view: the same storage, through which no gradient flows."""
        return Tensor(self.axes, self.role, stops=True, of=self)

    def within(self, places: Container[Tensor]) -> Tensor:
        """The first of `places` found among itself and the tensors it is a view of; otherwise its storage."""
        found = self
        while found.of is not None and found not in places:
            found = found.of
        return found


WHOLE = "whole_"  # before the name of a sequence that no plan cuts


def whole(tensor: Tensor) -> Tensor:
    """As every GPU has it: along a sequence of another name, with positions that no plan cuts."""
    kept = {
        dim: Dim.of(WHOLE + dim.name, dim.size, positions=Positions.GATHERED)
        for dim in tensor.dims
        if dim.positions is Positions.SEQUENCE
    }
    return Tensor(tuple(tuple(kept.get(dim, dim) for dim in axis) for axis in tensor.axes), tensor.role)
