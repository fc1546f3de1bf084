"""A complete LaTeX document on A4: `archcalc params --explain --format latex-document > sheet.tex`, then pdflatex."""

from __future__ import annotations

from archcalc.render.latex.sheet import packages, sheet
from archcalc.render.latex.table import MARGINS
from archcalc.report.base import Report


def render(report: Report, *, width: int) -> str:
    body = sheet(report, MARGINS)
    head = [
        "\\documentclass[a4paper]{article}",
        "\\usepackage[margin=25mm]{geometry}",
        f"\\usepackage{{{','.join(packages(body))}}}",
        "\\begin{document}",
    ]
    return "\n".join([*head, body, "\\end{document}"])
