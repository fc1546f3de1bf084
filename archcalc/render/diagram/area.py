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


@dataclass(frozen=True)
class Line:
    """A piece of a wire, in right angles. The last piece of a way has an arrow's head."""

    points: tuple[Point, ...]
    arrow: bool = False
    dashed: bool = False


@dataclass(frozen=True)
class Label:
    """A text beside a line: its left end and its middle."""

    text: str
    x: float
    y: float
    width: float


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
        self.boxes += [replace(box, x=box.x + dx, y=box.y + dy) for box in other.boxes]
        self.lines += [replace(line, points=tuple((x + dx, y + dy) for x, y in line.points)) for line in other.lines]
        self.labels += [replace(label, x=label.x + dx, y=label.y + dy) for label in other.labels]

    def flipped(self) -> Area:
        """Upside down: what entered at the top enters at the bottom."""
        high = self.height
        return replace(
            self,
            lefts={wire: high - y for wire, y in self.lefts.items()},
            rights={wire: high - y for wire, y in self.rights.items()},
            boxes=[replace(box, y=high - box.y - box.height) for box in self.boxes],
            lines=[replace(line, points=tuple((x, high - y) for x, y in line.points)) for line in self.lines],
            labels=[replace(label, y=high - label.y) for label in self.labels],
        )
