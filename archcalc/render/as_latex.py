"""LaTeX to paste into a document: tables, and the working as aligned equations. Its first line names the packages."""

from __future__ import annotations

from archcalc.render.latex.sheet import packages, sheet
from archcalc.render.latex.table import PLAIN
from archcalc.report.base import Report


def render(report: Report, *, width: int) -> str:
    body = sheet(report, PLAIN)
    needed = ",".join(packages(body))
    return f"% needs \\usepackage{{{needed}}}; --format latex-document prints a whole document\n{body}"
