"""The terminal: the answer first, then the tree, laid out for the width there is."""

from __future__ import annotations

import importlib
import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic, ranked
from archcalc.render import cells
from archcalc.render.page import MARKS, Amount, Grid, aligned, page
from archcalc.render.style import BOLD, CYAN, DIM, TONES, styled
from archcalc.report.base import Report
from archcalc.report.table import Line, Matrix
from archcalc.report.units import UNITS, Tone

if TYPE_CHECKING:
    from archcalc.report.bar import Bar
    from archcalc.report.picture import Picture

WIDE = 110  # columns from which there is room to spare
BARS = {True: 20, False: 10}  # how wide the bars of shares are, with and without such room
LEAST_TEXT, LEAST_NAME = 8, 12  # to which columns of words are narrowed
GAP = 2
_WITH_UNIT = re.compile(r"(?<=\d) (?=[kMGTPEZ]?i?B\b|bytes\b|%|×)|(?<=[±×]) ")
_JOINING = re.compile(r" [=±] |: ")  # a number, its name and its error stay on one line
_EIGHTHS: tuple[str, ...] = ("", *"▏▎▍▌▋▊▉")


def render(report: Report, *, width: int, notes: bool = False) -> str:
    """With every note, or with those that matter most and how many others there are."""
    shown = page(report)
    answer = [*shown.headline]
    if shown.brief and len(answer[0]) > width:
        answer[0] = shown.brief
    parts = (part.replace(" ", "\xa0").replace(",\xa0", ", ") for part in shown.title.split(" · "))
    title = "\xa0· ".join(parts)  # broken behind a separator or a comma, never within a value
    head, coloured = [], TONES.get(shown.tone, "")
    for text in (title, *answer, *shown.expected, shown.scope):
        # between words only, as an option is written in one piece; not between a number and its unit, or its error
        whole = _WITH_UNIT.sub("\xa0", text)
        lines = textwrap.wrap(whole, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
        weight = BOLD + coloured if text in answer[:1] else BOLD
        head += [styled(line.replace("\xa0", " "), weight) for line in lines]
    worked = textwrap.wrap(shown.worked, width - 2, initial_indent="= ", subsequent_indent="  ")
    layouts = [_Layout(table, width) for table in shown.tables[bool(shown.bar) :]]
    left_out = {column.label: column.about for layout in layouts for column in layout.left_out}
    found = [note for note in shown.notes if note not in left_out.values()]
    if left_out:
        found.append(Assumption(Topic.TABLE, f"{', '.join(left_out)} left out: the terminal is too narrow"))
    said = _notes(found, len(found) if notes else report.notes_at_first)
    figures = [each for each in shown.besides if each.segment is None or not shown.bar]  # which has them in its legend
    blocks = [
        [*head, *(styled(line, DIM) for line in worked)],
        _figures(figures, width),
        _drawn(shown.bar, width) if shown.bar else [],
        *(block for layout in layouts for block in layout.blocks()),
        [styled(line, DIM) for note in said for line in _hung(note, width, "· ", "  ")],
    ]
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _notes(found: Sequence[Assumption], few: int) -> list[str]:
    """A sentence each of a few, then what the others are about."""
    if few == len(found):
        return [str(note) for note in found]  # in their own order
    first, others = ranked(found, few)
    about = ", ".join(dict.fromkeys(note.topic.replace("_", " ") for note in others))
    more = "more" if first else "notes"
    return [*map(str, first), *([f"{len(others)} {more} with --notes: {about}"] if others else [])]


def _hung(text: str, width: int, first: str, others: str) -> list[str]:
    """Wrapped between words only, so that an address stays whole where it fits."""
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=others, break_on_hyphens=False)


def _figures(figures: Sequence[Amount], width: int) -> list[str]:
    """Labels to the left, what a value comes to right-aligned, then all of its digits and a note, which is wrapped
    under itself, or where little room is left, under its label."""
    if not figures:
        return []
    labels, values, digits = (
        max(map(len, texts))
        for texts in zip(*((each.marked, each.human, each.digits) for each in figures), strict=True)
    )
    lines, beside = list[str](), labels + values + digits + 3 * GAP
    indent = beside if width - beside >= LEAST_NAME else GAP
    for each in figures:
        said = _hung(each.note, width, " " * indent, " " * indent)
        first = said.pop(0).strip() if said and indent == beside else ""
        rest = f"{each.digits:>{digits}}  {first}".rstrip()
        line = f"{each.marked:<{labels}}  {each.human:>{values}}"
        lines += [f"{line}  {styled(rest, DIM)}" if rest else line, *(styled(one, DIM) for one in said)]
    return lines


class _Layout:
    """A table in a width: which columns it has, how wide they are, and its lines laid out by that."""

    def __init__(self, grid: Grid, width: int) -> None:
        """Of spare columns that do not fit the last ones go first; then words give way, names last."""
        self.grid, self.width = grid, width
        self.has_levels = any(line.depth for line in grid.lines)
        self._lay_out(grid.texts, [column.label for column in grid.columns])
        if self.used > width and any(UNITS[column.unit].brief for column in grid.columns):
            self._lay_out(grid.briefly(), [column.brief or column.label for column in grid.columns])
        self._narrow(width)

    def _lay_out(self, texts: Sequence[Sequence[str]], heads: list[str]) -> None:
        grid, width = self.grid, self.width
        self.units = [column.unit for column in grid.columns]
        self.heads = heads
        named = zip(grid.lines, texts, strict=True)
        self.rows = [["  " * line.depth + name, *rest] for line, (name, *rest) in named]
        self.widths = [max(map(cells.width, column)) for column in zip(self.heads, *self.rows, strict=True)]
        self.bar = BARS[width >= WIDE] if "share" in self.units else 0
        self.kept = list(range(len(self.units)))
        self.used = sum(self.widths) + GAP * (len(self.kept) - 1) + bool(self.bar) + self.bar

    def _narrow(self, width: int) -> None:
        grid = self.grid
        if self.used > width and self.bar:  # figures before their picture
            self.used -= self.bar + 1
            self.bar = 0
        spare = [i for i in self.kept if grid.columns[i].spare]
        while spare and self.used > width:
            last = spare.pop()
            self.kept.remove(last)
            self.used -= self.widths[last] + GAP
        self.left_out = [column for i, column in enumerate(grid.columns) if i not in self.kept]
        words = [i for i in reversed(self.kept) if self.units[i] == "text"]
        for i, least in (*((i, LEAST_TEXT) for i in words), (0, LEAST_NAME)):
            given = min(max(self.used - width, 0), max(self.widths[i] - least, 0))
            self.widths[i] -= given
            self.used -= given  # columns of the terminal, with the bar behind the last cell

    def blocks(self) -> Iterator[list[str]]:
        """With its picture above it, which few tables have."""
        if self.grid.picture:
            yield _drawn(self.grid.picture, self.width)
        rows = zip(self.grid.lines, self.rows, strict=True)
        heads = [styled(self._joined(self.heads), DIM)] if any(self.heads) else []
        yield [*heads, *(text for line, row in rows for text in self._line(line, row))]

    def _line(self, line: Line, row: list[str]) -> list[str]:
        """One line; its working stands beside it where that fits, else beneath; then its notes."""
        row, more = self._last_wrapped(row)
        others = [row[i] for i in self.kept[1:]]
        alone = self.grid.columns[0].left and not any(others)  # a heading has the line to itself
        text = cells.cut(row[0], self.width) if alone else self._joined(row)
        shown, bar = text, ""
        if line.quiet:
            shown = styled(text, DIM)
        elif line.tones:
            shown = self._joined(row, line.tones)
        elif line.heading or (line.depth == 0 and self.has_levels):
            shown = styled(text, BOLD)
        elif line.tone and (mark := MARKS[line.flag][0].strip()):
            # the mark before the name and the last cell in the line's colour
            last, colour = row[self.kept[-1]], TONES[line.tone]
            shown = text.removesuffix(last).replace(mark, styled(mark, colour), 1) + styled(last, colour)
        if self.bar:
            share = line.cells[self.units.index("share")] or 0
            full, rest = divmod(round(min(share, 1) * self.bar * 8), 8)
            bar = "█" * full + _EIGHTHS[rest]
        if bar:
            shown += f" {styled(bar, CYAN)}"
        indent = "  " * (line.depth + 1)
        notes = [styled(text, DIM) for note in line.notes for text in _noted(note, self.width, indent)]
        if not line.below:
            return [shown, *more, *notes]
        if self.width >= WIDE and self.used + 4 + len(line.below) <= self.width:
            gap = " " * (self.used - len(text) - len(bar) - bool(bar))
            return [f"{shown}{gap}  {styled(f'= {line.below}', DIM)}", *more, *notes]
        below = _hung(line.below, self.width, f"{indent}= ", f"{indent}  ")
        return [shown, *more, *(styled(text, DIM) for text in below), *notes]

    def _last_wrapped(self, row: list[str]) -> tuple[list[str], list[str]]:
        """Words at the end of a line go on beneath themselves, where there is too little room for them."""
        last = self.kept[-1]
        room = self.widths[last]
        if self.units[last] != "text" or cells.width(row[last]) <= room or self.bar:
            return row, []
        first, *others = textwrap.wrap(row[last], room, break_on_hyphens=False)
        beneath = [" " * (self.used - room) + cells.cut(text, room) for text in others]
        return [*row[:last], first, *row[last + 1 :]], beneath

    def _joined(self, row: Sequence[str], tones: Sequence[Tone] = ()) -> str:
        """Filled up or cut to the width it takes on the screen, where an accent of its own takes none; with tones, each
        cell in its colour."""
        parts = []
        for i in self.kept:
            text = row[i]
            if UNITS[self.units[i]].ends:
                text = cells.cut_inside(text, self.widths[i])
            elif self.units[i] in ("name", "text"):
                text = cells.cut(text, self.widths[i])
            fill = " " * (self.widths[i] - cells.width(text))
            text = styled(text, TONES[tones[i]]) if tones[i : i + 1] and tones[i] else text
            parts.append(text + fill if self.grid.columns[i].left else fill + text)
        return (" " * GAP).join(parts).rstrip()


def _drawn(picture: Picture | Bar, width: int) -> list[str]:
    """In characters, by the file for this kind of picture: few answers have one."""
    kind = type(picture).__name__.lower()
    drawn: list[str] = importlib.import_module(f"archcalc.render.chart.text_{kind}").in_text(picture, width)
    return drawn


def _noted(note: str | Matrix, width: int, indent: str) -> list[str]:
    """Further lines of a numbered step hang behind its number."""
    if isinstance(note, Matrix):
        return [f"{indent}{text}" for text in (f"{note.name}:", *aligned(note))]
    number, dot, _ = note.partition(". ")
    hanging = len(number + dot) if number.isdigit() else 0
    whole = _JOINING.sub(lambda found: found[0].replace(" ", "\xa0"), note)
    return [text.replace("\xa0", " ") for text in _hung(whole, width, indent, indent + " " * hanging)]
