"""The page of `archcalc walk`: every step a panel, to show in a lecture, with its own link.

The steps are data in the page; its script draws one of them at a time, and all of them on paper.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from archcalc.analyze.walk.report import Row, Shown, WalkReport
from archcalc.core.count import Count
from archcalc.core.visible import visible
from archcalc.render.html import tables
from archcalc.render.html.document import Body, document, packaged
from archcalc.render.page import page
from archcalc.render.walk.boxes import MOST, SCALE, Point, Solid, extent, solid
from archcalc.spec.units import flops, rounded

RULER = (1, 10, 100, 1_000, 10_000, 100_000)


def render(report: WalkReport) -> str:
    shown = page(report)
    made = _Data({row.path: row.number for row in report.rows})
    steps = [made.step(row) for row in report.rows]
    kinds = ([row for row in report.rows if bool(row.pair) is wanted] for wanted in (True, False))
    data = {
        "steps": steps,
        "places": made.places,
        "solids": made.solids,
        "shapes": made.shapes,
        "largest": [_largest(rows) for rows in kinds],
        "longest": max(side.size for row in report.rows for each in _all(row) for side in _sides(each)),
        "ruler": RULER,
        "totals": [report.parameters, report.flops, report.elementwise],
    }
    about = " · ".join([shown.title, *shown.answer, f"{rounded(report.parameters)} parameters"])
    main = "\n".join(
        [
            f'<main id="walk"><header class="bar"><h1>{escape(shown.title)}</h1>'
            f'<p class="muted">{escape(" · ".join(shown.answer))} · {escape(rounded(report.parameters))} parameters · '
            f"{escape(flops(report.flops))} FLOPs forward</p></header>",
            "<noscript><p>This page draws with JavaScript. <code>archcalc walk</code> prints the same.</p></noscript>",
            f'</main>\n<section class="below"><h2>How to read it</h2>\n{tables.notes(shown.notes)}\n'
            f'<p class="muted">Tensors are those of one example; {escape(SCALE)}.</p></section>',
            f'<script type="application/json" id="steps">{_json(data)}</script>',
        ]
    )
    text = document(Body(about, main, style=packaged("walk.css"), scripts=("walk.js",)))
    return text.encode("ascii", "xmlcharrefreplace").decode()


def _largest(rows: list[Row]) -> Point:
    """How wide and how high the pictures of these steps are at the most."""
    wide, high = zip((1.0, 1.0), *map(extent, rows), strict=True)
    return round(max(wide), 1), round(max(high), 1)


def _json(data: Any) -> str:
    """In ASCII, with no character that would end the script that it stands in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace("&", "\\u0026")


def _all(row: Row) -> list[Shown]:
    return [*row.pair, *row.besides, *filter(None, [row.output])]


def _sides(shown: Shown) -> tuple[Any, ...]:
    return shown.box.rows, shown.box.columns


class _Data:
    """Steps as the script reads them; modules, shapes and boxes that several of them have stand once."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers = numbers  # of steps, by their paths
        self.places: list[list[Any]] = []
        self.shapes: list[list[Any]] = []
        self.solids: list[dict[str, Any]] = []

    def step(self, row: Row) -> dict[str, Any]:
        over = [row.pair[0].box.columns.name, row.pair[0].box.columns.size] if row.pair else []
        found = {
            "path": visible(row.path),
            "title": visible(row.title),
            "what": visible(row.what),
            "in": [_at(self.places, [p.path, visible(p.title), p.repeat, p.calls]) for p in row.places],
            "over": over,
            "pair": [self._tensor(each) for each in row.pair],
            "rest": [self._tensor(each) for each in row.besides[:MOST]],
            "more": max(len(row.besides) - MOST, 0),
            "out": row.output and self._tensor(row.output),
            "formula": visible(row.formula),
            "also": [self._tensor(each) for each in row.also],
            "copies": row.copies,
            "runs": row.runs,
            "each": int(row.each),
            "p": row.parameters,
            "pw": _ways(row.each),
            "once": int(row.once),
            "f": row.flops,
            "e": row.elementwise,
            "fw": _ways(row.once),
        }
        return {key: value for key, value in found.items() if value or key in ("path", "title")}

    def _tensor(self, shown: Shown) -> list[Any]:
        """Its name, its shape (sizes, names of dims, box), the step that makes it, and whether it is a weight."""
        at = _at(self.solids, _drawn(solid(shown.box)))
        dims, sizes = " × ".join(shown.dims), " × ".join(f"{size:,}" for size in shown.shape)
        shape = _at(self.shapes, [sizes or "1", visible(dims), at])
        return [visible(shown.name), shape, self.numbers.get(shown.made_by, 0), int(bool(shown.path))]


def _ways(count: Count) -> list[str]:
    """How it is worked out, in names and in numbers."""
    return [count.worked(names=True), count.worked()] if count else []


def _at(known: list[Any], one: Any) -> int:
    """Its place in the list, at whose end it is put where it is new."""
    if one not in known:
        known.append(one)
    return known.index(one)


def _drawn(made: Solid) -> dict[str, Any]:
    size = [round(made.width, 2), round(made.height, 2)]
    areas = [[kind, _path(points) + "Z"] for kind, points in made.areas]
    return {"size": size, "areas": areas, "lines": "".join(map(_path, made.lines))}


def _path(points: tuple[Point, ...]) -> str:
    return "M" + "L".join(f"{round(x, 2):g} {round(y, 2):g}" for x, y in points)
