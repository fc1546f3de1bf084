"""What goes from one part to the next: a shape, how many of it a sample has, and while the model runs its tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Generic, NamedTuple, TypeVar

from archcalc.archs.network.layer import SIDES, Shape, laid_out
from archcalc.archs.recurrent.layers import Outcome
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.positions import Positions


@dataclass(frozen=True)
class Flow:
    """`number` is how many of them a sample has, such as the images of a prompt; `length` the workload's name for its
    positions, where a user chooses how many there are."""

    shape: Shape
    number: int = 1
    length: str = ""
    kept: int = 0  # positions of all images that are read beside tokens, where these are not all that a tower gives

    def __str__(self) -> str:
        return f"{self.number} × {self.shape}" if self.number > 1 else str(self.shape)

    @property
    def has_positions(self) -> bool:
        """Whether it can stand in a sequence beside others: a vector is one position."""
        return self.shape.is_sequence or not self.shape.sides

    @property
    def positions(self) -> int:
        """How many positions it takes in a sequence of others."""
        each = self.shape.sides[0] if self.shape.sides else 1
        return self.kept or self.number * each

    def gives(self, shape: Shape) -> Flow:
        """What a part gives that reads this alone."""
        return replace(self, shape=shape, kept=self.kept if shape.is_sequence else 0)


class Signal(NamedTuple):
    """A flow while the model runs. The first dim of its tensor are all samples, or all images of all samples."""

    flow: Flow
    tensor: Tensor
    states: Outcome | None = None  # of a recurrent part: its last states

    def as_positions(self, m: Module, batch: Dim, name: str, width: str, most: int | None = None) -> Tensor:
        """As positions of one sequence for each sample: several images stand one behind the other. `most` is how many
        of them a piece of the sequence has."""
        flow, features = self.flow, Dim.of(width, self.flow.shape.channels)
        number = flow.positions if most is None else most
        to = axes(batch, Dim.of(name, number, positions=Positions.SEQUENCE), features)
        if number == replace(flow, kept=0).positions:
            return self.tensor.seen_as(*to)
        return m.record("copy", self.tensor, to=to, name="kept", note="positions that show the image")


T = TypeVar("T")


@dataclass(frozen=True)
class Given(Generic[T]):
    """What a part is handed: flows while it is resolved, signals while it runs; `names` are those of what it reads."""

    reads: tuple[T, ...]
    names: tuple[str, ...] = ()
    memory: T | None = None
    start: T | None = None
    context: T | None = None

    @property
    def named(self) -> dict[str, T]:
        return dict(zip(self.names, self.reads, strict=True))


class Made(NamedTuple):
    """What a part gives, and where a loss on it belongs: the scores, by the module of their loss."""

    signal: Signal
    scores: dict[Module, Tensor]


def samples(flow: Flow, batch: int) -> Dim:
    """The first dim of a flow's tensor."""
    return Dim.of("samples", batch * flow.number) if flow.number > 1 else Dim.of("batch", batch)


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
