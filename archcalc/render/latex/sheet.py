"""A report as LaTeX, part by part: title and answer, figures, tables, the working, and what is taken for granted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from archcalc.core.expression import Expression, Leaf, written
from archcalc.core.visible import visible
from archcalc.render.latex.formula import (
    AS_NUMBERS,
    OPERATOR,
    Formula,
    Maths,
    Piece,
    Symbols,
    equation_lines,
    explained,
    latex,
    number,
    parts,
    subscripted,
)
from archcalc.render.latex.table import Cell, Grid, Head, Paper, Row, indented_as_a_whole
from archcalc.render.latex.text import BOLD, breaking, sentence, text, width
from archcalc.render.latex.workings import Equation, Group, Labels, collected, sizes
from archcalc.render.page import Grid as Shown
from archcalc.render.page import Page, entries, page
from archcalc.report.base import Report
from archcalc.report.table import Column, Matrix
from archcalc.report.units import Quantity

PACKAGES = ("amsmath", "amssymb", "array", "booktabs", "longtable")
NARROWEST = {"name": 14.0, "text": 12.0}  # em to which such columns may be narrowed
INDENT = 1.0  # em for each level of a tree
NOTHING = Cell("", 0)
LONGEST_LEFT = 14.0  # em of a name with its formula beside it; beneath a longer one
EM = 10.0  # points


def packages(body: str) -> list[str]:
    """Those that the text needs."""
    if "\\begin{landscape}" in body:
        return [*PACKAGES, "pdflscape"]
    return [*PACKAGES]


def sheet(report: Report, paper: Paper) -> str:
    shown = page(report)
    return "\n\n".join(block for block in _blocks(report, shown, paper) if block)


def _blocks(report: Report, shown: Page, paper: Paper) -> Iterator[str]:
    equations = collected(report.working(), shown.tables)
    given = list(dict.fromkeys((*sizes(equations), *report.sizes())))
    symbols = Symbols(name for name, _ in given)
    yield f"\\subsection*{{\\raggedright {breaking(shown.title)}}}"
    said = [f"\\textbf{{{sentence(line)}}}" for line in (*shown.headline, *shown.expected, shown.scope) if line]
    yield "\\noindent " + " \\\\\n".join(said) if said else ""
    if shown.besides:
        heads = (Head(NOTHING, "l", NARROWEST["name"]), Head(NOTHING, "r"), Head(NOTHING, "l", NARROWEST["text"]))
        texts = ((each.label, each.exact, " ".join(filter(None, (each.roughly, each.note)))) for each in shown.besides)
        yield Grid(heads, tuple(Row(list(map(_words, each))) for each in texts)).in_one_piece(paper)
    yield from (_grid(table, symbols).over_pages(paper) for table in shown.tables)
    if given:
        yield _legend(given, symbols).in_one_piece(paper)
    yield from (each.latex(paper.width) for each in aligned(equations, symbols))
    if shown.notes:
        items = [f"\\item[$\\cdot$] {sentence(str(note))}" for note in shown.notes]
        start = "\\begin{itemize}\\setlength{\\itemsep}{0pt}\\raggedright"
        yield "\n".join([start, *items, "\\end{itemize}"])


def _words(words: str) -> Cell:
    return Cell(breaking(words), width(words))


def _grid(table: Shown, symbols: Symbols) -> Grid:
    """Bars are left out: they say what the numbers beside them say."""
    kept = [i for i, column in enumerate(table.columns) if column.unit != "stack"]
    heads, rows = [], []
    for column in (table.columns[i] for i in kept):
        side = "l" if column.left else "r"
        heads.append(Head(_words(column.label), side, NARROWEST.get(column.unit, 0.0), column.spare))
    for line, texts in zip(table.lines, table.texts, strict=True):
        cells = [_cell(line.cells[i], table.columns[i], texts[i], symbols) for i in kept]
        if line.heading:
            cells[0] = Cell(f"\\textbf{{{cells[0].latex}}}", cells[0].width * BOLD)
        indent, beneath = INDENT * line.depth, [*line.notes]
        if line.below and not line.working:  # which stands among the equations
            beneath.insert(0, line.below)
        rows.append(Row(cells, [_beneath(each, indent + INDENT) for each in beneath], indent))
    return Grid(tuple(heads), tuple(rows))


def _beneath(note: str | Matrix, indent: float) -> str:
    """Smaller than the line that it belongs to."""
    if isinstance(note, Matrix):
        rows = " \\\\ ".join(" & ".join(row) for row in entries(note)).replace("−", "-")
        words = f"{sentence(note.name)}: $\\begin{{pmatrix}} {rows} \\end{{pmatrix}}$"
    else:
        words = sentence(note)
    return f"\\footnotesize{indented_as_a_whole(words, indent)}"


def _cell(value: Any, column: Column[Any], words: str, symbols: Symbols) -> Cell:
    unit = value.unit if isinstance(value, Quantity) else column.unit
    if unit == "shape" and words:
        sizes = [
            symbols.symbol(visible(each)) if isinstance(each, str) else Piece(str(each), width(str(each)))
            for each in value
        ]
        product = " \\times ".join(size.latex for size in sizes)
        return Cell(f"${product}$", sum(size.width + OPERATOR for size in sizes) - OPERATOR)
    if unit == "times" and words:
        return Cell(f"${text(words).replace('$', '')}$", width(words))
    return _words(words)


def _legend(given: Sequence[tuple[str, int]], symbols: Symbols) -> Grid:
    """Every symbol with what it means and its size; a composed name only where its parts do not stand alone."""
    alone = {name for name, _ in given if parts(name) == [name]}
    values: dict[str, list[int]] = {}
    for name, size in given:
        if name in alone or not alone.issuperset(parts(name)):
            values.setdefault(name, []).append(size)
    heads = (Head(_words("symbol"), "l"), Head(_words("meaning"), "l", NARROWEST["text"]), Head(_words("size"), "r"))
    rows = []
    for name, found in values.items():  # a name may stand for several sizes, in different layers
        symbol, said = symbols.symbol(name), " or ".join(f"{size:,}" for size in found)
        rows.append(Row([Cell(f"${symbol.latex}$", symbol.width), _words(explained(name)), _words(said)]))
    return Grid(heads, tuple(rows))


# The working as aligned equations: symbol = formula = numbers = value, subtotal by subtotal.


class Sides(NamedTuple):
    """An equation: the symbol on its left, and the steps on its right."""

    left: Piece
    steps: list[Formula]

    @property
    def beside(self) -> float:
        """The room that the left side takes from the right one."""
        if self.left.width > LONGEST_LEFT:
            return 0.0
        return self.left.width

    def latex(self, room: float) -> str:
        if self.beside:
            return f"{self.left.latex} &" + " \\\\\n&".join(equation_lines(self.steps, room))
        lines = [self.left.latex, *(f"\\quad {line}" for line in equation_lines(self.steps, room - 1))]
        return "&" + " \\\\\n&".join(lines)


class Aligned(NamedTuple):
    """Equations of an `align*`, under a title or none."""

    title: str
    equations: list[Sides]

    def latex(self, points: float) -> str:
        """It may go on over several pages."""
        room = points / EM - max(each.beside for each in self.equations) - OPERATOR
        lines = " \\\\\n".join(each.latex(room) for each in self.equations)
        heading = self.title and f"\\medskip\\noindent\\textit{{{text(self.title)}}}\n"
        return f"{heading}{{\\allowdisplaybreaks\n\\begin{{align*}}\n{lines}\n\\end{{align*}}}}"


class Writer(NamedTuple):
    """Writes the equations of a group, with symbols for sizes and labels for subtotals."""

    symbols: Symbols
    labels: Labels
    group: Group

    def sides(self, equation: Equation) -> Sides:
        """Of several equal numbers one stands on the left, the others lead the right side; then by symbols, by numbers,
        and what it comes to. A step that only repeats the one before it is left out."""
        working, names = equation.working, self.labels.labels(equation, self.group)
        first, *others = [subscripted(working.quantity, name) for name in names]
        steps = [written(equation.expression, Maths(lambda leaf: self._symbol(leaf, equation)))]
        further: list[Formula] = [(number(int(working.number)),)]
        if not working.names:
            further.insert(0, written(equation.expression, AS_NUMBERS))
        for step in further:
            if latex(step).replace("{,}", "") != latex(steps[-1]).replace("{,}", ""):
                steps.append(step)
        return Sides(first, [*((other,) for other in others), *steps])

    def _symbol(self, leaf: Leaf, within: Equation) -> Piece | None:
        if not leaf.name:
            return None
        if not leaf.subtotal:
            return self.symbols.symbol(leaf.name)
        label = self.labels.of_subtotal(leaf, within, self.group)
        if not label:
            return None
        return subscripted(within.working.quantity, label)


def aligned(groups: Sequence[Group], symbols: Symbols) -> list[Aligned]:
    """A heading where names hold in a group alone; an equation that was written above is not written again."""
    labels = Labels(groups)
    known: dict[str, Expression] = {}
    made: list[Aligned] = []
    for writer in (Writer(symbols, labels, group) for group in groups):
        each_named = [(each, labels.labels(each, writer.group)) for each in writer.group.equations]
        new = [(each, names) for each, names in each_named if any(known.get(name) != each.expression for name in names)]
        known |= {name: each.expression for each, names in new for name in names}
        is_own = any(path not in labels.of_parts for each, _ in new for path in each.paths)
        part = writer.group.part
        title = labels.of_parts.get(part) or ", ".join(part) if is_own else ""
        if title or not made or made[-1].title:
            made.append(Aligned(title, []))
        made[-1].equations.extend(writer.sides(each) for each, _ in new)
    return [each for each in made if each.equations]
