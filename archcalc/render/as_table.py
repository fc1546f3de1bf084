"""The terminal: the answer first, then the tree, laid out for the width there is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from archcalc.render import cells
from archcalc.render.page import Page, page
from archcalc.render.style import bold, coloured, dim, toned
from archcalc.render.words import FLAGS, aligned, figure, label
from archcalc.render.words import cells as words_of
from archcalc.report.base import LEFT, Column, Figure, Line, Matrix, Report, Table, Unit

WIDE = 110  # columns from which there is room to spare
UNBOUNDED = 10**6
_WITH_UNIT = re.compile(r"(?<=\d) (?=[kMGTPEZ]?i?B\b|bytes\b|%)|(?<=±) ")
_JOINING = re.compile(r" [=±] |: ")  # a number, its name and its error stay on one line
_EIGHTHS = " ▏▎▍▌▋▊▉█"


def render(report: Report, *, width: int) -> str:
    shown = page(report)
    figures = list(shown.figures)
    answer = _answer(shown, width) or [" ".join((*figure(figures[0]), figures.pop(0).label))]
    headline = [line for part in (*answer, *shown.expected, shown.scope) for line in _headline(part, width)]
    worked = textwrap.wrap(shown.worked, width - 2, initial_indent="= ", subsequent_indent="  ")
    fitted = [_fitting(table, width) for table in shown.tables]
    left_out = {column.label: column.about for _, columns in fitted for column in columns}
    explained = [str(note) for note in shown.notes if note not in left_out.values()]
    narrow = [f"{', '.join(left_out)} left out: the terminal is too narrow"] if left_out else []
    blocks = [
        [*map(bold, _title(shown.title, width)), *map(bold, headline), *map(dim, worked)],
        _figures(figures),
        *(block for table, _ in fitted for block in _table(table, width)),
        [dim(line) for note in (*explained, *narrow) for line in _note(note, width)],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _table(table: Table, width: int) -> list[list[str]]:
    """With its picture above it, which few tables have."""
    lines = _Layout(table, width).lines()
    if not table.picture:
        return [lines]
    from archcalc.render.chart.in_text import in_text

    return [in_text(table.picture, width), lines]


def _answer(shown: Page, width: int) -> list[str]:
    """The title, or its short form if the full one does not fit."""
    is_long = any(len(line) > width for line in shown.answer[:1])
    return [shown.brief, *shown.answer[1:]] if is_long and shown.brief else list(shown.answer)


def _title(text: str, width: int) -> list[str]:
    """Broken behind a separator or a comma, never within a value."""
    parts = (part.replace(" ", "\xa0").replace(",\xa0", ", ") for part in text.split(" · "))
    return _headline("\xa0· ".join(parts), width)


def _headline(text: str, width: int) -> list[str]:
    """Between words only, as an option is written in one piece; not between a number and its unit, or its error."""
    whole = _WITH_UNIT.sub("\xa0", text)
    lines = textwrap.wrap(whole, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return [line.replace("\xa0", " ") for line in lines]


def _note(note: str, width: int) -> list[str]:
    """Wrapped between words only, so that an address stays whole where it fits."""
    return textwrap.wrap(note, width, initial_indent="· ", subsequent_indent="  ", break_on_hyphens=False)


def _figures(figures: Sequence[Figure]) -> list[str]:
    """Labels to the left, exact values right-aligned, what they come to roughly beside them."""
    rows = [(label(answer), *figure(answer), answer.note) for answer in figures]
    wide, exact = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    lines = [f"{row[0]:<{wide}}  {row[1]:>{exact}}  {row[2]}".rstrip() for row in rows]
    return [line + (dim(f"  {row[3]}") if row[3] else "") for line, row in zip(lines, rows, strict=True)]


def _fitting(table: Table, width: int) -> tuple[Table, list[Column]]:
    """Without those spare columns that do not fit, of which the last ones go first, and what was left out."""
    left_out: list[Column] = []
    while any(column.spare for column in table.columns) and not _fits(table, width):
        *_, last = (i for i, column in enumerate(table.columns) if column.spare)
        left_out.insert(0, table.columns[last])
        table = _without(table, last)
    return table, left_out


def _fits(table: Table, width: int) -> bool:
    """With nothing cut short."""
    whole = _Layout(table, UNBOUNDED)
    return whole.used - whole.bar + _bar_width(width) * bool(whole.bar) <= width


def _without(table: Table, number: int) -> Table:
    lines = [line._replace(cells=(*line.cells[:number], *line.cells[number + 1 :])) for line in table.lines]
    return Table((*table.columns[:number], *table.columns[number + 1 :]), tuple(lines), table.picture)


def _bar_width(width: int) -> int:
    return 20 if width >= WIDE else 10


class _Layout:
    """Column widths for one table, and its lines laid out by them."""

    def __init__(self, table: Table, width: int) -> None:
        self.table, self.width = table, width
        self.units = [column.unit for column in table.columns]
        self.bar = _bar_width(width) if "share" in self.units else 0
        self.rows = [self._cells(line) for line in table.lines]
        self.widths = self._widths(table.columns)
        self.used = sum(self.widths) + 2 * (len(self.widths) - 1) + (self.bar + 1 if self.bar else 0)

    def lines(self) -> list[str]:
        heads = dim(self._joined([column.label for column in self.table.columns]))
        rows = zip(self.table.lines, self.rows, strict=True)
        return [heads, *(text for line, row in rows for text in self._line(line, row))]

    def _cells(self, line: Line) -> list[str]:
        name, *rest = words_of(line, self.units)
        return ["  " * line.depth + name, *rest]

    def _widths(self, columns: tuple[Column, ...]) -> list[int]:
        """Every column as wide as it must be; where the terminal is narrow, words give way, names last."""
        widths = [
            max([len(column.label), *(cells.width(row[i]) for row in self.rows)]) for i, column in enumerate(columns)
        ]
        over = sum(widths) + 2 * (len(widths) - 1) + (self.bar + 1 if self.bar else 0) - self.width
        for i, least in [*((i, 8) for i, unit in reversed(list(enumerate(self.units))) if unit == "text"), (0, 12)]:
            given = min(max(over, 0), max(widths[i] - least, 0))
            widths[i], over = widths[i] - given, over - given
        return widths

    def _line(self, line: Line, row: list[str]) -> list[str]:
        """One line, and its notes beneath."""
        beneath = (text for note in line.notes for text in self._noted(note, "  " * (line.depth + 1)))
        return [*self._worked(line, row), *map(dim, beneath)]

    def _worked(self, line: Line, row: list[str]) -> list[str]:
        """One line; its working stands beside it where that fits, else beneath."""
        alone = self.units[0] in LEFT and not any(row[1:])  # a heading has the line to itself
        text = cells.cut(row[0], self.width) if alone else self._joined(row)
        share = line.cells[self.units.index("share")] if self.bar else None
        bar = _bar(share, self.bar) if share is not None else ""
        styled = bold(text) if line.heading or line.depth == 0 else _toned(text, row[-1], line)
        styled += f" {coloured(bar)}" if bar else ""
        if not line.below:
            return [styled]
        if self.width >= WIDE and self.used + 4 + len(line.below) <= self.width:
            gap = " " * (self.used - len(text) - (len(bar) + 1 if bar else 0))
            return [f"{styled}{gap}  {dim(f'= {line.below}')}"]
        return [styled, *map(dim, self._beneath(line))]

    def _beneath(self, line: Line) -> list[str]:
        indent = "  " * (line.depth + 1)
        return textwrap.wrap(
            line.below,
            self.width,
            initial_indent=f"{indent}= ",
            subsequent_indent=f"{indent}  ",
            break_on_hyphens=False,
        )

    def _noted(self, note: str | Matrix, indent: str) -> list[str]:
        if isinstance(note, Matrix):
            return [f"{indent}{text}" for text in (f"{note.name}:", *aligned(note))]
        lines = textwrap.wrap(
            _JOINING.sub(lambda found: found[0].replace(" ", "\xa0"), note),
            self.width,
            initial_indent=indent,
            subsequent_indent=indent + " " * _hanging(note),
            break_on_hyphens=False,
        )
        return [text.replace("\xa0", " ") for text in lines]

    def _joined(self, cells: list[str]) -> str:
        columns = zip(cells, self.widths, self.units, strict=True)
        return "  ".join(_padded(text, width, unit) for text, width, unit in columns).rstrip()


def _toned(text: str, last: str, line: Line) -> str:
    """The mark before the name and the last cell in the line's colour."""
    mark = FLAGS[line.flag][0].strip()
    if not line.tone or not mark:
        return text
    return text.removesuffix(last).replace(mark, toned(mark, line.tone), 1) + toned(last, line.tone)


def _hanging(note: str) -> int:
    """Columns by which further lines of a numbered step are indented."""
    number, dot, _ = note.partition(". ")
    return len(number) + len(dot) if number.isdigit() else 0


def _padded(text: str, width: int, unit: Unit) -> str:
    """Filled up or cut to the width it takes on the screen, where an accent of its own takes none."""
    text = cells.cut(text, width) if unit in ("name", "text") else text
    fill = " " * (width - cells.width(text))
    return text + fill if unit in LEFT else fill + text


def _bar(share: float, width: int) -> str:
    full, rest = divmod(round(min(share, 1) * width * 8), 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")
