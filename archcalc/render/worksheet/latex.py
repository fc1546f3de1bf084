r"""A worksheet as a complete LaTeX document on A4: for pdflatex, or for xelatex in a language from right to left."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from archcalc.exercises.language import Language
from archcalc.exercises.phrases import CLOSE, OPEN
from archcalc.render.latex.sheet import PACKAGES
from archcalc.render.latex.text import breaking, sentence, text
from archcalc.render.worksheet.page import Cells, Grid, Page

_PIECE = re.compile(f"{OPEN}([^{CLOSE}]*){CLOSE}")
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "&%$#_{}"})
_SPECIAL |= str.maketrans({"\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}"})

Writer = Callable[[str], str]
START = ["\\documentclass[a4paper,10pt]{article}", "\\usepackage[margin=20mm]{geometry}"]
COLUMNS = [
    f"\\usepackage{{{','.join(PACKAGES)}}}",
    "\\setlength{\\parindent}{0pt}",
    "\\setlength{\\LTleft}{0pt}",
    "\\setlength{\\LTpre}{4pt}",
    "\\newcolumntype{Q}[1]{>{\\raggedright\\arraybackslash}p{#1\\linewidth}}",
]
GIVENS = (0.2, 0.2, 0.52)  # shares of the line, for each column
WIDTHS = {3: (0.06, 0.5, 0.36), 4: (0.06, 0.3, 0.36, 0.2)}


def said(words: str) -> str:
    """A sentence; its pieces from left to right as pdflatex would have them."""
    parts = _PIECE.split(words)
    return "".join(f"\\lr{{{sentence(part)}}}" if at % 2 else part.translate(_SPECIAL) for at, part in enumerate(parts))


def _first(fonts: list[str], command: str) -> str:
    *others, last = fonts
    choices = "".join(f"\\IfFontExistsTF{{{font}}}{{{command}{{{font}}}}}{{" for font in others)
    return f"{choices}{command}{{{last}}}{'}' * len(others)}"


class _Look(NamedTuple):
    """Of a table that people write into, or of one that is filled in."""

    stretch: float  # the height of rows
    between: str  # columns
    under: str  # rows
    rules: tuple[str, str, str]


TO_FILL_IN = _Look(1.9, "|", "\n\\hline\n", ("\\hline",) * 3)
FILLED_IN = _Look(1.15, "", "\n", ("\\toprule", "\\midrule", "\\bottomrule"))


def render(page: Page) -> str:
    packages: list[str] = []
    written = _Body(page.language, breaking, sentence, text)
    if page.language.direction != "ltr":
        written, fonts = _Body(page.language, said, said, said), page.language.data["latex"]
        packages = [  # xepersian comes last; of the fonts that a language names, the first that is installed
            "\\vfuzz=4pt  % letters with marks above and below are taller than TeX's lines",
            "\\usepackage{xepersian}  % needs xelatex",
            _first(fonts["font"], "\\settextfont"),
            _first(fonts["latin"], "\\setlatintextfont"),
        ]
    body = written.lines(page)
    return "\n".join([*START, *COLUMNS, *packages, "\\begin{document}", *body, "\\end{document}"]) + "\n"


@dataclass(frozen=True)
class _Body:
    """How names, sentences and titles are written."""

    language: Language
    name: Writer
    sentence: Writer
    title: Writer

    def lines(self, page: Page) -> Iterator[str]:
        yield f"{{\\Large\\bfseries\\raggedright {self.name(f'{page.kind}: {page.title}')}\\par}}"
        if page.to_sign:
            name, date = (self.name(self.language.text(key)) for key in ("name", "date"))
            yield f"\\bigskip {name}: \\hrulefill\\quad {date}: \\makebox[35mm]{{\\hrulefill}}\\par"
        yield f"\\bigskip {self.sentence(page.described)}\\par\\medskip"
        yield self._table(page.givens, GIVENS)
        if page.conventions:
            items = "\n".join(f"\\item {self.sentence(line)}" for line in page.conventions)
            yield f"\\begin{{itemize}}\\setlength{{\\itemsep}}{{0pt}}\n{items}\n\\end{{itemize}}"
        for part in page.parts:
            yield f"\\section*{{{self.title(part.title)}}}"
            yield f"{self.sentence(part.task)}\\par"
            yield self._table(part.grid, WIDTHS[len(part.grid.heads)])

    def _table(self, grid: Grid, shares: tuple[float, ...]) -> str:
        look = TO_FILL_IN if grid.roomy else FILLED_IN
        number, *others = (f"Q{{{share}}}" for share in shares)
        columns = number + look.between.join(others)
        top, middle, bottom = look.rules
        heads = f"{top}\n{self._row(grid.heads)}\n{middle}\\endhead\n{bottom}\\endlastfoot"
        written = self._given if shares is GIVENS else self._row
        rows = look.under.join(map(written, grid.rows))
        table = f"\\begin{{longtable}}{{@{{}}{columns}@{{}}}}\n{heads}\n{rows}\n\\end{{longtable}}"
        return f"{{\\small\\renewcommand{{\\arraystretch}}{{{look.stretch}}}\n{table}}}"

    def _given(self, cells: Cells) -> str:
        """A value without a meaning beside it has that room too."""
        name, value, meaning = cells
        if meaning:
            return self._row(cells)
        room = GIVENS[1] + GIVENS[2]
        return f"{self._cell(name)} & \\multicolumn{{2}}{{Q{{{room}}}@{{}}}}{{{self._cell(value)}}} \\\\"

    def _row(self, cells: Cells) -> str:
        return f"{' & '.join(map(self._cell, cells))} \\\\"

    def _cell(self, words: str) -> str:
        return "\\newline ".join(self.sentence(line) for line in words.split("\n"))
