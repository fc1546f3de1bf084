"""Notes beneath a line of a table, and the colour of its verdict, in every format that people read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from archcalc.render import render
from archcalc.render.style import ON_TERMINAL, UNSTYLED
from archcalc.report.base import Report
from archcalc.report.table import Column, Line, Matrix, Table

STEP = "1. A number and its error are never parted, not even where the line ends: mean 0.4996 ± 0.0011."
TURNED = Matrix("R", ((0.0, 1.0), (-1.0, 0.0)))


@dataclass(frozen=True)
class Noted(Report):
    """One line with a verdict, a numbered step and a matrix."""

    command: ClassVar[str] = "identities"

    def answer(self) -> str:
        return "one line"

    def table(self) -> Table:
        line = Line(("a", "holds"), 1, flag="right", tone="good", notes=(STEP, TURNED, "x < y | z"))
        return Table((Column[Any]("", "claim", "name"), Column[Any]("", "verdict", "text")), (line,))


REPORT = Noted(model="notes", assumptions=())


def test_a_step_is_wrapped_and_its_further_lines_hang() -> None:
    """To the terminal's width, beneath its line; a number stays with its name and its error."""
    text = render(REPORT, "table", width=80).translate(UNSTYLED)
    beneath = text.partition("✓ a")[2].splitlines()[1:]
    assert beneath == [
        "    1. A number and its error are never parted, not even where the line",
        "       ends: mean 0.4996 ± 0.0011.",
        "    R:",
        "    │        0   1.0000  │",
        "    │  −1.0000        0  │",
        "    x < y | z",
    ]


def test_the_mark_and_the_verdict_have_the_colour() -> None:
    """Green for good; what stands between is as it was."""
    shown = render(REPORT, "table", width=80).translate(ON_TERMINAL)
    assert "\x1b[32m✓\x1b[0m a" in shown
    assert "\x1b[32mholds\x1b[0m" in shown


def test_markdown_has_notes_in_the_cell_of_their_line() -> None:
    """With its marks escaped, and a row of a matrix as code."""
    text = render(REPORT, "markdown", width=80)
    assert "✓ a<br>1. A number" in text
    assert "<br>R:<br>`0 1.0000`<br>`−1.0000 0`<br>x < y \\| z | holds |" in text


def test_latex_has_a_matrix() -> None:
    assert "R: $\\begin{pmatrix} 0 & 1.0000 \\\\ -1.0000 & 0 \\end{pmatrix}$" in render(REPORT, "latex", width=80)


def test_a_notebook_escapes_notes() -> None:
    html = REPORT._repr_html_()
    assert "<small>x &lt; y | z</small>" in html
    assert "<pre>│        0   1.0000  │\n│  −1.0000        0  │</pre>" in html
