"""What a layout is made of: boxes, lines and labels with places, and where lines may enter and leave."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from archcalc.analyze.diagram.graph import Node
from archcalc.core.ir import Tensor

Point = tuple[float, float]


class Wire(NamedTuple):
    """One tensor of one node, whoever reads it."""

    source: Node
    tensor: Tensor


@dataclass(frozen=True)
class Box:
    """A node with its place; the left upper corner."""

    node: Node
    x: float
    y: float
    width: float
    height: float

    def moved(self, dx: float, dy: float) -> Box:
        return replace(self, x=self.x + dx, y=self.y + dy)

    def flipped(self, height: float) -> Box:
        return replace(self, y=height - self.y - self.height)


@dataclass(frozen=True)
class Line:
    """A piece of a wire, in right angles. The last piece of a way has an arrow's head."""

    points: tuple[Point, ...]
    arrow: bool = False
    dashed: bool = False

    def moved(self, dx: float, dy: float) -> Line:
        return replace(self, points=tuple((x + dx, y + dy) for x, y in self.points))

    def flipped(self, height: float) -> Line:
        return replace(self, points=tuple((x, height - y) for x, y in self.points))


@dataclass(frozen=True)
class Label:
    """A text beside a line: its left end and its middle."""

    text: str
    x: float
    y: float
    width: float

    def moved(self, dx: float, dy: float) -> Label:
        return replace(self, x=self.x + dx, y=self.y + dy)

    def flipped(self, height: float) -> Label:
        return replace(self, y=height - self.y)


@dataclass
class Area:
    """A rectangle with things in it. Wires enter at its top or its left side, and leave at its bottom or right side."""

    width: float
    height: float
    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    tops: dict[Wire, float] = field(default_factory=dict)
    bottoms: dict[Wire, float] = field(default_factory=dict)
    lefts: dict[Wire, float] = field(default_factory=dict)
    rights: dict[Wire, float] = field(default_factory=dict)
    is_box: bool = False  # wires end at it, and may do so anywhere on its edge

    def put(self, other: Area, dx: float, dy: float) -> None:
        """Take over what is in another area, moved."""
        self.boxes += [box.moved(dx, dy) for box in other.boxes]
        self.lines += [line.moved(dx, dy) for line in other.lines]
        self.labels += [label.moved(dx, dy) for label in other.labels]

    def flipped(self) -> Area:
        """Upside down: what entered at the top enters at the bottom."""
        turned = replace(self, lefts=self._turned(self.lefts), rights=self._turned(self.rights))
        turned.boxes = [box.flipped(self.height) for box in self.boxes]
        turned.lines = [line.flipped(self.height) for line in self.lines]
        turned.labels = [label.flipped(self.height) for label in self.labels]
        return turned

    def _turned(self, places: dict[Wire, float]) -> dict[Wire, float]:
        return {wire: self.height - y for wire, y in places.items()}
