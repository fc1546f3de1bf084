r"""Tables, in the largest type in which they fit the width of a page.

A table that is too wide gets smaller type and its columns of words are broken into lines; then it is printed across the
page (`landscape`); then the columns that a narrow terminal leaves out are left out here too; at last it is divided.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

GAP = 8.0  # points between two columns
FEWEST = 2  # columns of a table that cannot be divided: a name and a value
CERTAIN = 0.9  # of a table's width, which is estimated rather too large: lines across it must not widen it


class Cell(NamedTuple):
    latex: str
    width: float  # em


class Head(NamedTuple):
    """A column: what is written above it, and how it is laid out."""

    cell: Cell
    side: str  # l or r
    least: float = 0.0  # em to which it may be narrowed by breaking lines; 0 for never
    spare: bool = False  # may be left out


class Row(NamedTuple):
    cells: Sequence[Cell]
    below: Sequence[str] = ()  # lines across all columns
    indent: float = 0.0  # em, of its first cell

    @property
    def is_heading(self) -> bool:
        """Whether its first cell may take the room of all others, which are empty."""
        return len(self.cells) > 1 and not any(cell.latex for cell in self.cells[1:])

    @property
    def widths(self) -> list[float]:
        first, *others = (cell.width for cell in self.cells)
        return [first + self.indent, *others]


@dataclass(frozen=True)
class Paper:
    """The space for text, in points."""

    width: float
    height: float


PLAIN = Paper(343, 545)  # of the article class as it is, on A4: two points less
MARGINS = Paper(452, 690)  # A4 with margins of 25 mm, a little less


class Type(NamedTuple):
    """A size of type, with its em in TeX's own font: small letters are wider for their height."""

    command: str
    points: float
    across: bool = False  # the page, turned by a right angle


TYPES = (
    Type("normalsize", 10),
    Type("small", 9.25),
    Type("footnotesize", 8.5),
    Type("small", 9.25, across=True),
    Type("footnotesize", 8.5, across=True),
    Type("scriptsize", 8, across=True),
    Type("tiny", 6.8, across=True),
)


@dataclass(frozen=True)
class Grid:
    heads: tuple[Head, ...]
    rows: tuple[Row, ...]

    def over_pages(self, paper: Paper) -> str:
        """Broken wherever a page ends, with its heads on every page; in several tables, if it fits in no other way."""
        layout = self._layout(paper)
        if not layout.fits and len(layout.natural) > FEWEST:
            columns = range(1, len(layout.grid.heads))
            middle = (len(columns) + 1) // 2  # both halves have the first column, which names the lines
            halves = [layout.grid._with([0, *own]) for own in (columns[:middle], columns[middle:])]
            return "\n\n".join(half.over_pages(paper) for half in halves) + self._told(layout)
        start = ["\\toprule", *layout.heading(), "\\endhead", "\\bottomrule", "\\endfoot"]
        table = layout.set("longtable", "[l]", [*start, *layout.body()]) + self._told(layout)
        if layout.size.across:
            return f"\\begin{{landscape}}\n{table}\n\\end{{landscape}}"
        return table

    def _told(self, layout: Layout) -> str:
        """Which columns a table is without."""
        heads = [head.cell.latex for head in self.heads if head not in layout.grid.heads]
        if not heads:
            return ""
        return f"\n\\noindent {', '.join(heads)} left out: the page is too narrow"

    def in_one_piece(self, paper: Paper) -> str:
        """For a few lines, which no page's end should part."""
        layout = self._layout(paper)
        table = layout.set("tabular", "", ["\\toprule", *layout.heading(), *layout.body(), "\\bottomrule"])
        return f"\\medskip\\noindent\n{table}\n\\medskip"

    def _layout(self, paper: Paper) -> Layout:
        """Without spare columns only if it fits in no other way."""
        without_spare = self._with([i for i, head in enumerate(self.heads) if not head.spare])
        ways = [Layout(grid, size, paper) for grid in (self, without_spare) for size in TYPES]
        return next((layout for layout in ways if layout.fits), ways[-1])

    def _with(self, kept: Sequence[int]) -> Grid:
        rows = (row._replace(cells=[row.cells[i] for i in kept]) for row in self.rows)
        return replace(self, heads=tuple(self.heads[i] for i in kept), rows=tuple(rows))


class Layout:
    """A grid in one size of type, with columns that are narrowed as far as they must and may be."""

    def __init__(self, grid: Grid, size: Type, paper: Paper) -> None:
        """What is too much is taken from columns of words, more from wider ones."""
        self.grid, self.size = grid, size
        rows = [row.widths for row in grid.rows if not row.is_heading] or [row.widths for row in grid.rows]
        heads = [head.cell.width for head in grid.heads]
        self.natural = [max(column) for column in zip(heads, *rows, strict=True)]  # with every cell in one line
        self.gaps = GAP * (len(grid.heads) - 1) / size.points
        room = (paper.height if size.across else paper.width) / size.points - self.gaps
        over, named = max(sum(self.natural) - room, 0.0), zip(grid.heads, self.natural, strict=True)
        gives = [max(wide - head.least, 0.0) if head.least else 0.0 for head, wide in named]
        self.fits = over <= sum(gives)
        part = min(over / (sum(gives) or 1.0), 1.0)
        self.widths = [wide - part * give for wide, give in zip(self.natural, gives, strict=True)]

    def heading(self) -> list[str]:
        heads = [head.cell.latex for head in self.grid.heads]
        if not any(heads):
            return []
        return [_joined(heads), "\\midrule"]

    def body(self) -> list[str]:
        whole = CERTAIN * (sum(self.widths) + self.gaps)
        across = f"\\multicolumn{{{len(self.natural)}}}{{@{{}}p{{{whole:.1f}em}}@{{}}}}"
        lines = []
        for row in self.grid.rows:
            first, *others = [cell.latex for cell in row.cells]
            if row.is_heading:
                lines.append(f"{across}{{{indented_as_a_whole(first, row.indent)}}} \\\\")
            else:
                lines.append(_joined([f"\\hspace*{{{row.indent:g}em}}{first}" if row.indent else first, *others]))
            lines += [f"{across}{{{words}}} \\\\" for words in row.below]
        return lines

    def set(self, environment: str, place: str, lines: Sequence[str]) -> str:
        """A column that is narrower than its contents breaks them into lines."""
        sides = ""
        for head, wide, natural in zip(self.grid.heads, self.widths, self.natural, strict=True):
            sides += f">{{\\raggedright\\arraybackslash}}p{{{wide:.1f}em}}" if wide < natural else head.side
        style = f"{{\\{self.size.command}\\setlength{{\\tabcolsep}}{{{GAP / 2:g}pt}}%"
        begin = f"\\begin{{{environment}}}{place}{{@{{}}{sides}@{{}}}}"
        return "\n".join([style, begin, *lines, f"\\end{{{environment}}}}}"])


def indented_as_a_whole(words: str, indent: float) -> str:
    """In a line across all columns, which may have to be broken."""
    return f"\\leftskip={indent:g}em\\rightskip=0pt plus 3em\\relax {words}"


def _joined(cells: Iterable[str]) -> str:
    return f"{' & '.join(cells)} \\\\"
