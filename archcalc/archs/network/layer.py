"""What a layer of a network is: a frozen dataclass of filled-in values with a forward pass.

A kind of layer is a file in `archcalc.archs.network.kinds` with `WORDS` (how specs call it), `FIELDS` (its fields as
written) and `read(word, fields, shape, place)`, which gives the layer and the shape behind it;
`MAY_STAND_ALONE` if a word alone is such a layer, `READS` if it reads sequences as they are, or the ids of tokens: any
other kind reads a sequence as a map with one side (`archcalc.archs.network.along`). While a spec is read, `Place` says
where a layer stands; while layers run, they share a `Trace`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from math import prod
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

from archcalc.archs.network.expression import Scope
from archcalc.core.count import Count
from archcalc.core.errors import InputError, Path
from archcalc.core.ir import Axes, Dim, Module, Region, Tensor, axes
from archcalc.core.positions import Positions
from archcalc.spec.workload import Workload

SIDES = {0: (), 1: ("length",), 2: ("height", "width"), 3: ("depth", "height", "width")}
Along = Literal["channels", "features", "positions", "length", "depth", "height", "width"]
SEQUENCES, IDS = "sequences", "ids"  # what a kind may read besides maps and vectors


@dataclass(frozen=True)
class Shape:
    """Of one sample between two layers: channels, and the sides of the map, none for a vector.

    `Shape(64, (112, 112))`; a vector of 4,096 numbers is `Shape(4096)`, a sequence of 77 positions with 512 features
    each `Shape(512, (77,), is_sequence=True)`, 40 tokens before their embedding `Shape(1, (40,), is_ids=True)`.
    """

    channels: int
    sides: tuple[int, ...] = ()
    is_sequence: bool = False
    is_ids: bool = False

    @classmethod
    def sequence(cls, positions: int, features: int) -> Shape:
        return cls(features, (positions,), is_sequence=True)

    def __str__(self) -> str:
        if self.is_ids:
            return f"{self.sides[0]} tokens"
        return " × ".join(map(str, (*self.sides, self.channels) if self.is_sequence else (self.channels, *self.sides)))

    @property
    def names(self) -> dict[str, int]:
        """What expressions in a spec may call its sizes."""
        named = {"channels": self.channels, **dict(zip(SIDES[len(self.sides)], self.sides, strict=True))}
        return {**named, "positions": self.sides[0], "features": self.channels} if self.is_sequence else named

    @property
    def size(self) -> int:
        return prod((self.channels, *self.sides))


class Signal(NamedTuple):
    """An output that the spec gives a name: its shape, and where the name stands."""

    shape: Shape
    path: Path


class Reader(Protocol):
    """Reads the layers inside another one (`archcalc.archs.network.reader`)."""

    read: set[Path]  # names of layers that another one reads

    @property
    def blocks(self) -> Collection[str]: ...

    def steps(self, items: Any, shape: Shape, place: Place) -> tuple[Sequence, Shape]: ...


@dataclass(frozen=True)
class Place:
    """Its path in the spec, the names of its block, the signals it may read, and how deep in blocks and lists it is."""

    path: Path
    reader: Reader  # of the layers inside
    scope: Scope = field(default_factory=dict)
    signals: dict[str, Signal] = field(default_factory=dict)
    blocks: int = 0
    lists: int = 0
    defaults: Path = ()  # where fields may stand that its own item does not have

    def below(self, *keys: str | int) -> Place:
        defaults = (*self.defaults, *keys) if self.defaults else ()
        return replace(self, path=(*self.path, *keys), defaults=defaults)

    def named(self, name: str) -> Signal:
        """The earlier layer of that name, which is then read."""
        self.reader.read.add(self.signals[name].path)
        return self.signals[name]

    def wrong(self, fact: str, hint: str = "", key: str | int | None = None) -> InputError:
        keys = () if key is None else (key,)
        return InputError(fact, hint, fields=self.paths(*keys))

    def paths(self, *keys: str | int) -> list[Path]:
        """Where a field may stand, likeliest first."""
        defaults = [(*self.defaults, *keys)] if self.defaults else []
        return [(*self.path, *keys), *defaults, self.path]


def axis_of(along: str | None, shape: Shape, place: Place) -> int:
    """Which axis behind the samples a word means: 0 are the channels, or the features of a sequence."""
    if along in (None, "channels", "features"):
        return 0
    sides = SIDES[len(shape.sides)]
    named = [*sides, "positions"] if len(sides) == 1 else [*sides]
    if along not in named:
        raise place.wrong(f"{shape} has no {along}", f"use {', '.join(('channels', *named))}", "along")
    return 1 + sides.index(along) if along in sides else 1


@dataclass
class Trace:
    """What layers share while their forward pass is recorded; `signals` are the tensors that the spec gives a name."""

    work: Workload
    signals: dict[str, Tensor] = field(default_factory=dict)
    in_shifted_windows: bool = False  # where attention does not look across an end of the map
    _turned: set[Tensor] = field(default_factory=set)
    _number: Iterator[int] = field(default_factory=lambda: count(1))

    def turned(self, x: Tensor) -> Tensor:
        """Declares it a transposed view, whose features do not lie side by side."""
        self._turned.add(x)
        return x

    def turned_back(self, x: Tensor, out: Tensor) -> Tensor:
        """A transposed view of a transposed view lies in memory as it was."""
        return out if x in self._turned else self.turned(out)

    def like(self, x: Tensor, out: Tensor) -> Tensor:
        """What is computed number by number lies in memory as what it is computed of."""
        return self.turned(out) if x in self._turned else out

    def is_turned(self, x: Tensor) -> bool:
        """Where there is a single position, or a single feature, a transposed view lies in memory as any other."""
        return x in self._turned and _has_order(x)

    def in_order(self, m: Module, x: Tensor) -> Tensor:
        """PyTorch copies a transposed view where it needs the features side by side."""
        return m.record("reorder", x) if self.is_turned(x) else x

    def channels_first(self, m: Module, x: Tensor, to: Axes) -> Tensor:
        """The same where it needs the positions of a feature side by side, as in a map."""
        return m.record("view" if x in self._turned or not _has_order(x) else "reorder", x, to=to)

    def positions(self, size: int) -> Dim:
        """A new dim of positions: of a sequence that was none before, or is shorter."""
        return Dim.of(f"positions_{next(self._number)}", size, positions=Positions.SEQUENCE)

    def windows(self, batch: Dim, number: int) -> Dim:
        """A new dim of samples: so many windows of each."""
        return Dim(f"windows_{next(self._number)}", batch.size * number)

    def dims_of(self, shape: Shape) -> tuple[Dim, ...]:
        """New dims of a sample, in the order in which they lie in memory."""
        channels = self.channels(shape.channels, 0 if shape.is_sequence else len(shape.sides))
        if shape.is_sequence:
            return self.positions(*shape.sides), channels
        return channels, *(self.sides((), shape.sides) if shape.sides else ())

    def channels(self, size: int, sides: int) -> Dim:
        """A new dim of channels; without sides, of a vector's features."""
        return Dim.of(f"{'channels' if sides else 'features'}_{next(self._number)}", size)

    def sides(self, before: tuple[Dim, ...], sizes: tuple[int, ...]) -> tuple[Dim, ...]:
        """The sides of the next map: those before it where the size has not changed."""
        if tuple(int(dim.size) for dim in before) == sizes:
            return before
        if before and before[0].positions:
            return (self.positions(*sizes),)
        number = next(self._number)
        return tuple(Dim.of(f"{name}_{number}", size) for name, size in zip(SIDES[len(sizes)], sizes, strict=True))


def _has_order(x: Tensor) -> bool:
    """A single position, or a single feature, lies in memory the same either way."""
    return min(int(dim.size) for dim in x.dims[1:]) > 1


def parts(x: Tensor) -> tuple[Dim, Dim, tuple[Dim, ...]]:
    """Batch, channels and sides of a map; of a vector, no sides; of a sequence, its positions are the side."""
    batch, channels, *sides = x.dims
    return (batch, sides[0], (channels,)) if channels.positions else (batch, channels, tuple(sides))


def laid_out(batch: Dim, channels: Dim, sides: tuple[Dim, ...]) -> Axes:
    """A map has its channels first, a sequence its features last."""
    return axes(batch, *sides, channels) if sides and sides[0].positions else axes(batch, channels, *sides)


class Layer(Protocol):
    """One with `of_each_position` looks at every position of a sequence by itself, and adds nothing of its place."""

    spec_kind: ClassVar[str]

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor: ...


@dataclass(frozen=True)
class Step:
    """A layer in its place: what it is called, and how many equal ones follow each other."""

    name: str
    layer: Layer
    repeat: int = 1
    signal: str = ""  # the name that the spec gives its output

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        child = m.child(self.name, repeat=Count.named(self.name, self.repeat))
        out = self.layer.run(child, x, trace)
        if self.repeat > 1:
            out = trace.like(out, out.seen_as(*x.axes))
            child.carries.append((x, out))
        if self.signal:
            trace.signals[self.signal] = out
        return out


@dataclass(frozen=True)
class Sequence:
    """Layers one after the other: the whole network, a block, a branch. A single layer stands for itself."""

    spec_kind: ClassVar[str] = "sequence"
    of_each_position: ClassVar[bool] = True
    steps: tuple[Step, ...]
    is_block: bool = False  # activation checkpointing recomputes blocks
    start: str = ""  # the earlier layer that it reads, if it is not what comes in

    def run(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        """Names that are given inside are known inside."""
        if self.is_block:
            m.region = Region.BLOCK
        x = trace.signals[self.start] if self.start else x
        if len(self.steps) == 1 and self.steps[0].repeat == 1:
            return self.steps[0].layer.run(m, x, trace)
        known = dict(trace.signals)
        x = self.run_steps(m, x, trace)
        trace.signals = known
        return x

    def run_steps(self, m: Module, x: Tensor, trace: Trace) -> Tensor:
        """Each under its own name."""
        for step in self.steps:
            x = step.run(m, x, trace)
        return x


class Beginning:
    """A layer that reads nothing: a list of layers may begin with it."""


def begins(layer: Any) -> bool:
    """It reads nothing of what comes in."""
    if isinstance(layer, Sequence):
        return bool(layer.start) or (bool(layer.steps) and begins(layer.steps[0].layer))
    return isinstance(layer, Beginning)
