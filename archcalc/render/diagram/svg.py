"""A diagram as SVG: a title, the picture and a legend. It follows the reader's choice of light or dark.

Light colours are attributes and dark ones a style sheet, so that programs that know no style sheets draw it in light.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from archcalc.analyze.diagram.graph import Form, Node, PartKind
from archcalc.analyze.diagram.report import DiagramReport
from archcalc.core.visible import visible
from archcalc.render.chart.drawing import FONT, attributes
from archcalc.render.diagram.area import Area, Box, Line, Point
from archcalc.render.diagram.arrangement import arranged
from archcalc.render.diagram.layout import HEADER, PADDING
from archcalc.render.diagram.palette import COLOURS, FRAME, FRAME_EDGE, INK, MUTED, PAGE, WIRE
from archcalc.render.diagram.sizes import LINE, SMALL, STACKED, Text, badge, badge_width, count, stacked, texts
from archcalc.render.text_width import width

NAME = "archcalc-diagram"
MARGIN = 24.0
HEAD = 62.0  # the title above the picture
ROW = 24.0  # of the legend
CORNER = 6.0  # of lines
KEY = "in boxes: parameters · at arrows: shapes"
_INKS = dict.fromkeys(("title", "step"), ("ink", INK[0]))  # by style; all others are muted
_PLAIN = (PartKind.OTHER, PartKind.ACTIVATION, PartKind.STACK)


def render(report: DiagramReport, name: str = "") -> str:
    """A file of its own; with a name, the element that a page holds under it, whose `style` the page has."""
    picture = arranged(report)
    return "\n".join(_Svg(report, picture, name).lines()) + "\n"


class _Svg:
    def __init__(self, report: DiagramReport, picture: Area, name: str) -> None:
        self.report, self.picture, self.name = report, picture, name
        self.title, self.subtitle = visible(report.title()), visible(report.answer())
        heads = (width(self.title, 18, bold=True), width(self.subtitle, 12))
        self.width = max(picture.width + STACKED, *heads, 320.0) + 2 * MARGIN
        self.legend = list(self._legend_places())
        rows = max((y for _, _, y in self.legend), default=-ROW) + 2 * ROW
        self.legend_top = HEAD + picture.height + 2 * MARGIN
        self.height = self.legend_top + rows + MARGIN / 2
        self.left = (self.width - picture.width) / 2

    def lines(self) -> Iterator[str]:
        wide, high = round(self.width), round(self.height)
        title, described = (f"{self.name}-{part}".strip("-") for part in ("title", "desc"))
        space = attributes(xmlns=not self.name and "http://www.w3.org/2000/svg")
        yield (
            f'<svg{space} viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
            f'class="{NAME}" role="img" aria-labelledby="{title} {described}" font-family="{FONT}">'
        )
        yield f'<title id="{title}">{escape(self.title)}</title>'
        yield f'<desc id="{described}">{escape(visible(self.report.described()))}</desc>'
        if not self.name:
            yield f"<style>{style()}</style>"
            yield f'<rect class="page" width="{wide}" height="{high}" fill="{PAGE[0]}"/>'
        yield _text(Text(self.title, 18, "title"), MARGIN, MARGIN + 12, "start")
        yield _text(Text(self.subtitle, 12, "detail"), MARGIN, MARGIN + 32, "start")
        yield f'<g transform="translate({_number(self.left)} {_number(HEAD + MARGIN / 2)})">'
        yield from (part for box in self.picture.boxes if _is_frame(box) for part in _frame(box))
        yield from (_line(line) for line in self.picture.lines)
        yield from (part for box in self.picture.boxes if not _is_frame(box) for part in _box(box))
        for label in self.picture.labels:
            yield _text(Text(label.text, SMALL, "detail"), label.x, label.y, "start")
        yield "</g>"
        yield from self._legend()
        yield "</svg>"

    def _legend_places(self) -> Iterator[tuple[PartKind, float, float]]:
        """Every kind in the picture, in rows."""
        used = {box.node.kind for box in self.picture.boxes if box.node.form != Form.FRAME}
        x, y = MARGIN, 0.0
        for kind in (kind for kind in PartKind if kind in used and kind not in _PLAIN):
            wide = width(kind, 12) + 42
            if x + wide > self.width - MARGIN / 2 and x > MARGIN:
                x, y = MARGIN, y + ROW
            yield kind, x, y
            x += wide

    def _legend(self) -> Iterator[str]:
        for kind, x, y in self.legend:
            top = self.legend_top + y
            yield _rectangle(f"k-{kind.name.lower()}", x, top, 16, 12, 3, *COLOURS[kind][:2])
            yield _text(Text(kind, 12, "detail"), x + 22, top + 6, "start")
        last = max((y + ROW for _, _, y in self.legend), default=0.0)
        yield _text(Text(KEY, SMALL, "detail"), MARGIN, self.legend_top + last + 6, "start")


def style() -> str:
    """The dark colours of diagrams, on a screen; rules for this picture alone: a page may hold it as it is."""
    rules = {f".k-{kind.name.lower()}": _fill(each.dark, each.dark_edge) for kind, each in COLOURS.items()}
    rules |= {".page": _fill(PAGE[1]), ".frame": _fill(FRAME[1], FRAME_EDGE[1]), ".wire": f"stroke: {WIRE[1]}"}
    rules |= {".ink": _fill(INK[1]), ".badge": _fill(INK[1]), ".muted": _fill(MUTED[1])}
    rules |= {".head": _fill(WIRE[1]), ".on-badge": _fill(PAGE[1])}
    dark = " ".join(f".{NAME} {selector} {{ {rule} }}" for selector, rule in rules.items())
    return f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"


def _is_frame(box: Box) -> bool:
    return box.node.form == Form.FRAME


def _fill(colour: str, edge: str = "") -> str:
    return f"fill: {colour}; stroke: {edge}" if edge else f"fill: {colour}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _rectangle(classes: str, x: float, y: float, wide: float, high: float, radius: float, fill: str, edge: str) -> str:
    place = f'x="{_number(x)}" y="{_number(y)}" width="{_number(wide)}" height="{_number(high)}" rx="{_number(radius)}"'
    return f'<rect class="{classes}" {place} fill="{fill}" stroke="{edge}"/>'


def _text(line: Text, x: float, y: float, anchor: str) -> str:
    """`y` is the middle of the line."""
    ink, colour = _INKS.get(line.style, ("muted", MUTED[0]))
    weight = attributes(font_weight=line.is_bold and 600)
    place = f'x="{_number(x)}" y="{_number(y + line.size * 0.35)}" text-anchor="{anchor}"'
    style = f'font-size="{_number(line.size)}"{weight} fill="{colour}"'
    return f'<text class="{ink}" {place} {style}>{escape(line.text)}</text>'


def _offsets(node: Node) -> list[float]:
    """Of the copies that look out behind it, and of itself."""
    return sorted({stacked(node), 0.0}, reverse=True)


def _frame(box: Box) -> Iterator[str]:
    node = box.node
    for offset in _offsets(node):
        yield _rectangle("frame", box.x + offset, box.y + offset, box.width, box.height, 12, FRAME[0], FRAME_EDGE[0])
    title = texts(node)[0]
    yield _text(title, box.x + PADDING, box.y + HEADER / 2 + 1, "start")
    yield from _badge(node, box.x + PADDING + title.width + 6, box.y + HEADER / 2 - 8)
    counted = Text(count(node), SMALL, "count")
    yield _text(counted, box.x + box.width - PADDING, box.y + HEADER / 2 + 1, "end")


def _badge(node: Node, x: float, y: float) -> Iterator[str]:
    shown = Text(badge(node), SMALL, "badge")
    if shown.text:
        wide = shown.width + 14
        yield _rectangle("badge", x, y, wide, 17, 8.5, INK[0], "none")
        yield (
            f'<text class="on-badge" x="{_number(x + wide / 2)}" y="{_number(y + 12.5)}" text-anchor="middle" '
            f'font-size="{SMALL}" font-weight="600" fill="{PAGE[0]}">{escape(shown.text)}</text>'
        )


def _box(box: Box) -> Iterator[str]:
    node, colour = box.node, COLOURS[box.node.kind]
    radius = {Form.BOX: 8.0, Form.STEP: 6.0}.get(node.form, min(box.width, box.height) / 2)
    for offset in _offsets(node):
        kind = f"k-{node.kind.name.lower()}"
        yield _rectangle(kind, box.x + offset, box.y + offset, box.width, box.height, radius, *colour[:2])
    lines = texts(node)
    y = box.y + box.height / 2 - LINE * (len(lines) - 1) / 2
    for line in lines:
        yield _text(line, box.x + box.width / 2, y, "middle")
        y += LINE
    yield from _badge(node, box.x + box.width - badge_width(node), box.y - 8)


def _line(line: Line) -> str:
    """With a triangle whose tip is its end, where it ends at a box."""
    dashed = attributes(stroke_dasharray=line.dashed and "4 3")
    drawn = f'<path class="wire" d="{path(line.points)}" fill="none" stroke="{WIRE[0]}" stroke-width="1.4"{dashed}/>'
    if not line.arrow:
        return drawn
    (x0, y0), (x, y) = _turns(line.points)[-2:]
    long = _distance((x0, y0), (x, y))
    dx, dy = (x - x0) / long, (y - y0) / long
    back = (x - 7 * dx, y - 7 * dy)
    head = [(x, y), (back[0] - 3.5 * dy, back[1] + 3.5 * dx), (back[0] + 3.5 * dy, back[1] - 3.5 * dx)]
    return f'{drawn}<path class="head" d="M{"L".join(map(_at, head))}Z" fill="{WIRE[0]}"/>'


def path(points: tuple[Point, ...]) -> str:
    """Right angles with round corners."""
    turns = _turns(points)
    parts = [f"M{_at(turns[0])}"]
    for before, corner, after in zip(turns, turns[1:], turns[2:], strict=False):
        radius = min(CORNER, _distance(before, corner) / 2, _distance(corner, after) / 2)
        parts.append(f"L{_at(_toward(corner, before, radius))}Q{_at(corner)} {_at(_toward(corner, after, radius))}")
    return "".join([*parts, f"L{_at(turns[-1])}"])


def _turns(points: tuple[Point, ...]) -> list[Point]:
    """Without points that lie on a straight way."""
    kept = [point for index, point in enumerate(points) if index == 0 or _distance(point, points[index - 1]) > 0.1]
    inner = [
        corner
        for before, corner, after in zip(kept, kept[1:], kept[2:], strict=False)
        if not (before[0] == corner[0] == after[0] or before[1] == corner[1] == after[1])
    ]
    return [kept[0], *inner, kept[-1]]


def _at(point: Point) -> str:
    return f"{_number(point[0])} {_number(point[1])}"


def _distance(one: Point, two: Point) -> float:
    return abs(one[0] - two[0]) + abs(one[1] - two[1])


def _toward(start: Point, end: Point, by: float) -> Point:
    share = by / _distance(start, end)
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share
