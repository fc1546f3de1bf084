"""A worksheet as Markdown."""

from __future__ import annotations

import re

from archcalc.exercises.phrases import AS_BEFORE, CLOSE, FROM_LEFT, OPEN
from archcalc.render.worksheet.page import Grid, Page

_MARKS = re.compile(r"[\\*|\[\]]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)")
ROOM = "&emsp;" * 6  # in a cell that people write into


def render(page: Page) -> str:
    name, date = (page.language.text(key) for key in ("name", "date"))
    blocks = [
        [f"# {_plain(page.kind)}: {_plain(page.title)}"],
        [f"{name}: ____________________ {date}: ____________"] if page.to_sign else [],
        [_plain(page.described)],
        _grid(page.givens),
        [f"- {_plain(line)}" for line in page.conventions],
    ]
    for part in page.parts:
        blocks += [[f"## {_plain(part.title)}"], [_plain(part.task)], _grid(part.grid)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _grid(grid: Grid) -> list[str]:
    empty = ROOM if grid.roomy else ""
    rows = [[_plain(cell) or empty for cell in row] for row in grid.rows]
    return [_row(list(map(_plain, grid.heads))), _row([":---"] * len(grid.heads)), *map(_row, rows)]


def _plain(text: str) -> str:
    """Nothing but `commands` is taken for markup."""
    escaped = _MARKS.sub(lambda found: f"\\{found[0]}", text).replace("\n", "<br>")
    return escaped.replace(OPEN, FROM_LEFT).replace(CLOSE, AS_BEFORE)


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
