"""What goes from one part to the next: a shape, how many of it a sample has, and while the model runs its tensor."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from archcalc.archs.network.layer import SIDES, Shape, laid_out
from archcalc.archs.recurrent.layers import Outcome
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.positions import Positions

if TYPE_CHECKING:
    from archcalc.archs.parts.links import Links
    from archcalc.archs.recurrent.stack import ResolvedStack


@dataclass(frozen=True)
class Flow:
    """`number` is how many of them a sample has, such as the images of a prompt; `length` the workload's name for its
    positions, where a user chooses how many there are."""

    is_derived: ClassVar[bool] = True  # a second witness works it out
    shape: Shape
    number: int = 1
    length: str = ""
    ends_as: ResolvedStack | None = None  # the recurrent stack whose last states go with it
    kept: int = 0  # positions of all images that are read beside tokens, where these are not all that a tower gives
    is_absent: bool = False  # nothing of it comes in, or what would give it does not run

    def __str__(self) -> str:
        return f"{self.number} × {self.shape}" if self.number > 1 else str(self.shape)

    @property
    def has_positions(self) -> bool:
        """Whether it can stand in a sequence beside others: a vector is one position."""
        return self.shape.is_sequence or not self.shape.sides

    @property
    def positions(self) -> int:
        """How many positions it takes in a sequence of others."""
        if self.is_absent:
            return 0
        each = self.shape.sides[0] if self.shape.sides else 1
        return self.kept or self.number * each

    @property
    def in_one(self) -> Flow:
        """The vectors of several in a sample, such as those of its frames, as one sequence."""
        if self.number == 1 or self.shape.sides:
            return self
        return Flow(Shape.sequence(self.number, self.shape.channels))

    @property
    def along_its_side(self) -> Flow:
        """A map with a single side as a sequence of its places."""
        if self.shape.is_ids or self.shape.is_sequence or len(self.shape.sides) != 1:
            return self
        return replace(self, shape=Shape.sequence(*self.shape.sides, self.shape.channels))

    def gives(self, shape: Shape) -> Flow:
        """What a part gives that reads this alone."""
        return replace(self, shape=shape, ends_as=None, kept=self.kept if shape.is_sequence else 0)


class Signal(NamedTuple):
    """A flow while the model runs. The first dim of its tensor are all samples, or all images of all samples."""

    flow: Flow
    tensor: Tensor
    states: Outcome | None = None  # of a recurrent part: its last states
    is_turned: bool = False  # a transposed view, whose features do not lie side by side

    def as_positions(self, m: Module, batch: Dim, name: str, width: str, most: int | None = None) -> Tensor:
        """As positions of one sequence for each sample: several images stand one behind the other. `most` is how many
        of them a piece of the sequence has."""
        flow, features = self.flow, Dim.of(width, self.flow.shape.channels)
        every = replace(flow, kept=0, is_absent=False).positions * self.tensor.dims[0].size
        every //= batch.size * flow.number
        number = most or flow.kept or every
        to = axes(batch, Dim.of(name, number, positions=Positions.SEQUENCE), features)
        if number == every:
            return self.tensor.seen_as(*to)
        return m.record("copy", self.tensor, to=to, name="kept", note="positions that show the image")

    @property
    def in_one(self) -> Signal:
        """As that of its flow."""
        if self.flow.in_one == self.flow:
            return self
        several, features = self.tensor.dims
        batch, places = Dim.of("batch", several.size // self.flow.number), Dim.of("positions", self.flow.number)
        return Signal(self.flow.in_one, self.tensor.seen_as(batch, places, features))

    @property
    def along_its_side(self) -> Signal:
        """As that of its flow; in memory the features of a place do not lie side by side."""
        if self.flow.along_its_side == self.flow:
            return self
        first, channels, side = self.tensor.dims
        return Signal(self.flow.along_its_side, self.tensor.seen_as(first, side, channels), is_turned=True)

    def in_order(self, m: Module) -> Signal:
        """PyTorch copies a transposed view, or a part of something larger, where it needs all of it side by side."""
        if not self.is_turned and self.tensor.size == self.tensor.storage.size:
            return self
        return self._replace(tensor=m.record("reorder", self.tensor), is_turned=False)


T = TypeVar("T")


@dataclass(frozen=True)
class Given(Generic[T]):
    """What a part is handed: flows while it is resolved, signals while it runs; `names` are those of what it reads."""

    reads: tuple[T, ...]
    names: tuple[str, ...] = ()
    memory: T | None = None
    start: T | None = None
    context: T | None = None

    @classmethod
    def by(cls, links: Links, known: Mapping[str, T]) -> Given[T]:
        """Of what is known so far, what a part with these links is handed."""
        beside = (known[name] if name else None for name in (links.memory, links.start, links.context))
        found = cls(tuple(known[name] for name in links.reads), links.reads, *beside)
        return found.together() if links.together else found

    @property
    def named(self) -> dict[str, T]:
        return dict(zip(self.names, self.reads, strict=True))

    def together(self) -> Given[T]:
        """The vectors of several in a sample as one sequence."""
        return self.each(lambda one: one.in_one)

    def each(self, seen: Callable[[Any], Any]) -> Given[T]:
        """What it reads, seen so."""
        return replace(self, reads=tuple(map(seen, self.reads)))

    def only(self, names: Container[str]) -> Given[T]:
        """What has these names of all that it reads."""
        kept = {name: one for name, one in self.named.items() if name in names}
        return replace(self, reads=tuple(kept.values()), names=tuple(kept))


class Made(NamedTuple):
    """What a part gives, and where a loss on it belongs: the scores, by the module of their loss. Those of a list of
    layers are of no head, so that they are scores only where nothing else is an output."""

    signal: Signal
    scores: dict[Module, Tensor]
    has_head: bool = True


def samples(flow: Flow, batch: int) -> Dim:
    """The first dim of a flow's tensor."""
    each = Dim.of("batch", batch)
    return Dim.of("samples", each.size * flow.number) if flow.number > 1 else each


def record(m: Module, flow: Flow, batch: int, name: str) -> Tensor:
    """An input as it comes in."""
    first, shape = samples(flow, batch), flow.shape
    places: tuple[Dim, ...]
    if shape.is_ids or shape.is_sequence:
        places = (Dim.of("text_seq", shape.sides[0], positions=Positions.SEQUENCE),)
    else:
        places = tuple(Dim.of(*side) for side in zip(SIDES[len(shape.sides)], shape.sides, strict=True))
    if shape.is_ids:
        return m.record("ids", to=axes(first, *places), name=name)
    inner = Dim.of("channels" if shape.sides else "features", shape.channels)
    return m.record("input", to=laid_out(first, inner, places), name=name)
