r"""A worksheet as a complete LaTeX document on A4, for pdflatex."""

from __future__ import annotations

from collections.abc import Iterator

from archcalc.render.latex.sheet import PACKAGES
from archcalc.render.latex.text import breaking, sentence, text
from archcalc.render.worksheet.page import Cells, Grid, Page, Part

PREAMBLE = [
    "\\documentclass[a4paper,10pt]{article}",
    "\\usepackage[margin=20mm]{geometry}",
    f"\\usepackage{{{','.join(PACKAGES)}}}",
    "\\setlength{\\parindent}{0pt}",
    "\\setlength{\\LTleft}{0pt}",
    "\\setlength{\\LTpre}{4pt}",
    "\\newcolumntype{Q}[1]{>{\\raggedright\\arraybackslash}p{#1\\linewidth}}",
    "\\begin{document}",
]
OPEN, SOLVED = 1.9, 1.15  # the height of rows: people write into open ones
GIVENS = (0.2, 0.2, 0.52)  # shares of the line, for each column
WIDTHS = {3: (0.06, 0.5, 0.36), 4: (0.06, 0.3, 0.36, 0.2)}


def render(page: Page) -> str:
    return "\n".join([*PREAMBLE, *_body(page), "\\end{document}"]) + "\n"


def _body(page: Page) -> Iterator[str]:
    yield f"{{\\Large\\bfseries\\raggedright {breaking(f'{page.kind}: {page.title}')}\\par}}"
    if page.to_sign:
        yield "\\bigskip Name: \\hrulefill\\quad Date: \\makebox[35mm]{\\hrulefill}\\par"
    yield f"\\bigskip {sentence(page.described)}\\par\\medskip"
    yield _table(page.givens, GIVENS)
    if page.conventions:
        items = "\n".join(f"\\item {sentence(line)}" for line in page.conventions)
        yield f"\\begin{{itemize}}\\setlength{{\\itemsep}}{{0pt}}\n{items}\n\\end{{itemize}}"
    for part in page.parts:
        yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    yield f"\\section*{{{text(part.title)}}}"
    yield f"{sentence(part.task)}\\par"
    yield _table(part.grid, WIDTHS[len(part.grid.heads)])


def _table(grid: Grid, shares: tuple[float, ...]) -> str:
    line = "|" if grid.roomy else ""  # between the columns that people write into
    columns = "".join(f"{line if place > 1 else ''}Q{{{share}}}" for place, share in enumerate(shares))
    rules = ["\\hline"] * 3 if grid.roomy else ["\\toprule", "\\midrule", "\\bottomrule"]
    heads = f"{rules[0]}\n{_row(grid.heads)}\n{rules[1]}\\endhead\n{rules[2]}\\endlastfoot"
    written = _given if shares is GIVENS else _row
    rows = ("\n\\hline\n" if grid.roomy else "\n").join(map(written, grid.rows))
    table = f"\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n{heads}\n{rows}\n\\end{{longtable}}"
    return f"{{\\small\\renewcommand{{\\arraystretch}}{{{OPEN if grid.roomy else SOLVED}}}\n{table}}}"


def _given(cells: Cells) -> str:
    """A value without a meaning beside it has that room too."""
    name, value, meaning = cells
    if meaning:
        return _row(cells)
    return f"{_cell(name)} & \\multicolumn{{2}}{{Q{{{GIVENS[1] + GIVENS[2]}}}@{{}}}}{{{_cell(value)}}} \\\\"


def _row(cells: Cells) -> str:
    return f"{' & '.join(map(_cell, cells))} \\\\"


def _cell(words: str) -> str:
    return "\\newline ".join(sentence(line) for line in words.split("\n"))
