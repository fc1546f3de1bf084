"""How large each box is, by the texts in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archcalc.analyze.diagram.graph import Form, Node
from archcalc.core.visible import visible
from archcalc.render.text_width import shortened, width

TITLE, SMALL = 13.0, 11.0  # pixels
LINE = 16.0  # from one line of text to the next
PADDING = 12.0
NARROWEST, WIDEST = 116.0, 300.0
MOST = 4  # numbers that are listed one by one
SIGN = 24.0  # the circle around a sign
STACKED = 5.0  # how far copies look out behind the first
OVER = 4.0  # how far a badge on a box's edge keeps from the arrow at the middle, and from the corner
PILL = 26.0  # the height of inputs, outputs and single ops


@dataclass(frozen=True)
class Text:
    """A line of text in a box."""

    text: str
    size: float
    style: str  # title, detail, count, badge

    @property
    def is_bold(self) -> bool:
        return self.style in ("title", "badge")

    @property
    def width(self) -> float:
        return width(self.text, self.size, bold=self.is_bold)


def stacked(node: Node) -> float:
    """How far its copies look out behind it."""
    return STACKED * (any(times > 1 for times in node.times) or node.repeat > 1)


def badge(node: Node) -> str:
    """`× 12`, or `× 6, 12, 24` in as many places; of a frame also how often it runs."""
    parts, times = [], node.times or (node.repeat,)
    if any(each > 1 for each in times):
        parts.append(f"× {_listed(times)}")
    if node.form == Form.FRAME and steps(node):
        parts.append(steps(node))
    return " · ".join(parts)


def steps(node: Node) -> str:
    """How often it runs, or what it keeps for its next step."""
    if node.calls > 1:
        return f"↻ {node.calls:,} {'steps' if node.is_step else 'times'}"
    if not node.keeps:
        return ""
    return f"↻ keeps {' and '.join(node.keeps)}"


def count(node: Node) -> str:
    """The parameters of one copy, or whose weights it reads."""
    if node.parameters:
        shown = " … ".join(dict.fromkeys(f"{each.parameters:,}" for each in (node, node.last)))
        return f"{shown} each" if stacked(node) else shown
    if not node.reads_weights_of:
        return ""
    return f"weights of {node.reads_weights_of.replace('_', ' ').replace('.', ', ')}"


def _listed(numbers: Sequence[int]) -> str:
    """Once where all are equal; of many, the first and the last."""
    shown = [f"{each:,}" for each in (numbers[:1] if len(set(numbers)) == 1 else numbers)]
    return ", ".join(shown) if len(shown) <= MOST else f"{shown[0]} … {shown[-1]}"


def details(node: Node) -> list[str]:
    """What it says beneath its name; of what stands for several, from the first to the last."""
    ends = list(dict.fromkeys(each.detail for each in (node, node.last)))
    if len(ends) == 1:
        return ends
    return [f"from {ends[0]}", f"to {ends[1]}"]


def texts(node: Node) -> list[Text]:
    """The lines of a box, from top to bottom, none wider than the widest box."""
    title = Text(_fitting(node.name, TITLE, bold=True), TITLE, "title")
    if node.form == Form.SIGN:
        return [title]
    beneath = (*((line, "detail") for line in details(node)), (steps(node), "detail"), (count(node), "count"))
    small = [Text(_fitting(text, SMALL), SMALL, style) for text, style in beneath if text]
    if node.form in (Form.BOX, Form.FRAME):
        return [title, *small]
    return [Text(_fitting(node.name, SMALL + 1), SMALL + 1, "step"), *small]


def _fitting(text: str, size: float, *, bold: bool = False) -> str:
    return shortened(visible(text), size, WIDEST - 2 * PADDING, bold=bold)


def badge_width(node: Node) -> float:
    shown = badge(node)
    if not shown:
        return 0
    return Text(shown, SMALL, "badge").width + 14


def size(node: Node) -> tuple[float, float]:
    """Width and height of a node without contents."""
    lines = texts(node)
    if node.form == Form.SIGN:
        return SIGN, SIGN
    wide = max(line.width + 2 * PADDING for line in lines)
    if badge(node):
        wide = max(wide, 2 * (badge_width(node) + OVER))
    if node.form == Form.BOX:
        return max(wide, NARROWEST), LINE * len(lines) + 14
    return max(wide, 56.0), PILL + LINE * (len(lines) - 1)
