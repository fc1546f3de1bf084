"""A worksheet as Markdown."""

from __future__ import annotations

import re

from archcalc.exercises.phrases import AS_BEFORE, CLOSE, FROM_LEFT, OPEN
from archcalc.render.worksheet.page import Grid, Page, Part

_MARKS = re.compile(r"[\\*|\[\]]|<(?=[A-Za-z/!?])|(?<!\w)_|_(?!\w)")
ROOM = "&emsp;" * 6  # in a cell that people write into


def render(page: Page) -> str:
    conventions = [f"- {_plain(line)}" for line in page.conventions]
    blocks = [
        [f"# {_plain(page.kind)}: {_plain(page.title)}"],
        _sign(page),
        [_plain(page.described)],
        _grid(page.givens),
        conventions,
        *(block for part in page.parts for block in _part(part)),
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _sign(page: Page) -> list[str]:
    if not page.to_sign:
        return []
    language = page.language
    return [f"{language.text('name')}: ____________________ {language.text('date')}: ____________"]


def _part(part: Part) -> list[list[str]]:
    return [[f"## {_plain(part.title)}"], [_plain(part.task)], _grid(part.grid)]


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
