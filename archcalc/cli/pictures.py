"""An answer printed, or written to a file whose suffix is its format."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from archcalc.cli.new_file import suffix_of, write
from archcalc.cli.options import show
from archcalc.cli.printing import out
from archcalc.render import images, render
from archcalc.report.base import Report


def _as(format: str) -> Callable[[Report], str]:
    return lambda report: render(report, format) + "\n"


WRITTEN: dict[str, Callable[[Report], str | bytes]] = {
    ".svg": _as("svg"),
    ".html": _as("html"),
    ".png": lambda report: images.png(render(report, "svg")),
    ".pdf": lambda report: images.pdf(render(report, "svg")),
    ".csv": _as("csv"),
    ".json": _as("json"),
    ".md": _as("markdown"),
}
SUFFIXES = " ".join(WRITTEN)


def answered(report: Report, output: str | None, format: str, *, notes: bool, force: bool) -> None:
    if output is None:
        show(report, format, notes=notes)
        return
    write(Path(output), WRITTEN[suffix_of(output, WRITTEN)](report), replace=force)
    out(f"wrote {output}")
