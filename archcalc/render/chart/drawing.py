"""A picture in the making: rectangles, lines and words, and the SVG that they come to.

Of a file, light colours are attributes and dark ones a style sheet, so that programs that know no style sheets draw it
in light; a page has a style sheet for both. Every text is escaped here, and nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType

from archcalc.core.visible import visible
from archcalc.render.inks import INK, PAGE, Ink, dark_rules

CLASS = "archcalc-chart"
SIZE = 12.0  # of texts, in pixels
_LIGHT = "\0"  # around a light colour, which a page's style sheet has instead
_COLOURS = re.compile(f"{_LIGHT}[^{_LIGHT}]*{_LIGHT}")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"
Point = tuple[float, float]
Marks = Mapping[str, str | int]  # attributes besides: data-…, tabindex, role
NONE: Marks = MappingProxyType({})


@dataclass
class Drawing:
    """`title` and `described` are for those who cannot see it: screen readers read them out."""

    width: float
    height: float
    title: str
    described: str
    parts: list[str] = field(default_factory=list)
    inks: set[Ink] = field(default_factory=set)
    role: str = "img"  # for assistive programs, which look into no `img`: what has parts to walk through is a `tree`

    def rectangle(
        self,
        x: float,
        y: float,
        wide: float,
        high: float,
        ink: Ink,
        *,
        radius: float = 0,
        edge: Ink | None = None,
        marks: Marks = NONE,
    ) -> None:
        rest = attributes(rx=radius and number(radius))
        self._add("rect", f"{_box(x, y, wide, high)}{rest}", fill=ink, stroke=edge, marks=marks)

    def area(self, points: Sequence[Point], ink: Ink, *, marks: Marks = NONE) -> None:
        """A filled shape within these corners."""
        self._add("path", f'd="{_path(points)}Z"', fill=ink, marks=marks)

    def line(self, points: Sequence[Point], ink: Ink, *, width: float = 1, dash: str = "") -> None:
        drawn = f'd="{_path(points)}" fill="none" stroke-width="{number(width)}"'
        self._add("path", drawn + attributes(stroke_dasharray=dash), stroke=ink)

    def dot(self, x: float, y: float, radius: float, ink: Ink) -> None:
        self._add("circle", f'cx="{number(x)}" cy="{number(y)}" r="{number(radius)}"', fill=ink)

    def text(
        self,
        words: str,
        x: float,
        y: float,
        *,
        size: float = SIZE,
        anchor: str = "start",
        ink: Ink = INK,
        bold: bool = False,
    ) -> None:
        """`y` is the middle of the line, `anchor` the side of it that stands at `x`: start, middle or end."""
        place = f'x="{number(x)}" y="{number(y + size * 0.35)}"'
        rest = attributes(
            text_anchor=anchor != "start" and anchor, font_size=size != SIZE and number(size), font_weight=bold and 600
        )
        self._add("text", place + rest, fill=ink, inside=escape(visible(words)))

    def zones(self, found: Iterable[tuple[float, float, float, float, str]]) -> None:
        """Places (x, y, width, height) that a pointer reads something at, though nothing is drawn there."""
        self.open(marks={"fill": "none", "pointer-events": "all"})
        for x, y, wide, high, hint in found:
            self.parts.append(f"<rect {_box(x, y, wide, high)}><title>{escape(visible(hint))}</title></rect>")
        self.close()

    def open(self, *, hint: str = "", marks: Marks = NONE) -> None:
        """Begin a group, ended by `close`; `hint` is what a pointer that rests on it reads."""
        self.parts.append(f"<g{_written(marks)}>")
        if hint:
            self.parts[-1] += f"<title>{escape(visible(hint))}</title>"

    def close(self) -> None:
        self.parts.append("</g>")

    def _add(
        self,
        tag: str,
        drawn: str,
        *,
        fill: Ink | None = None,
        stroke: Ink | None = None,
        marks: Marks = NONE,
        inside: str = "",
    ) -> None:
        self.inks |= {ink for ink in (fill, stroke) if ink}
        used = {"fill": fill, "stroke": stroke}
        names = " ".join(f"{kind[0]}-{ink.name}" for kind, ink in used.items() if ink)
        colours = "".join(f'{_LIGHT}{kind}="{ink.light}" {_LIGHT}' for kind, ink in used.items() if ink)
        end = f">{inside}</{tag}>" if inside else "/>"
        self.parts.append(f'<{tag} class="{names}" {colours}{drawn}{_written(marks)}{end}')

    def svg(self, name: str = "", *, alone: bool | None = None) -> str:
        """A file of its own; with a name, the element that a page holds under it, whose style the page has already,
        unless it is `alone` there too, as in a notebook."""
        if alone is None:
            alone = not name
        wide, high = number(self.width), number(self.height)
        title, described = f"{name}-title", f"{name}-described"
        space = attributes(xmlns=not name and "http://www.w3.org/2000/svg")
        lines = [
            f'<svg{space} class="{CLASS}" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}" '
            f'role="{self.role}" aria-labelledby="{title} {described}" font-family="{FONT}" font-size="{SIZE:g}">',
            f'<title id="{title}">{escape(visible(self.title))}</title>',
            f'<desc id="{described}">{escape(visible(self.described))}</desc>',
        ]
        if alone:
            lines.append(f"<style>{dark_rules({*self.inks, PAGE}, CLASS)}</style>")
            lines.append(f'<rect class="f-page" fill="{PAGE.light}" width="{wide}" height="{high}"/>')
            lines += [part.replace(_LIGHT, "") for part in self.parts]
        else:
            lines += [_COLOURS.sub("", part) for part in self.parts]
        return "\n".join([*lines, "</svg>"]) + "\n"


def number(value: float) -> str:
    """With one decimal at the most: a tenth of a pixel is not seen."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")  # no -0


def _box(x: float, y: float, wide: float, high: float) -> str:
    return f'x="{number(x)}" y="{number(y)}" width="{number(wide)}" height="{number(high)}"'


def attributes(**values: str | float) -> str:
    """Each behind a space; those that say nothing are left out."""
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in values.items() if value)


def _path(points: Sequence[Point]) -> str:
    return "M" + "L".join(f"{number(x)} {number(y)}" for x, y in points)


def _written(marks: Marks) -> str:
    return "".join(f' {name}="{escape(visible(str(value)))}"' for name, value in marks.items())
