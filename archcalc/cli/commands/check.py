"""Mark the answers to a worksheet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.options import Format, show

if TYPE_CHECKING:
    from archcalc.spec.yaml_reader import Document

NOT_ALL_RIGHT = 1


def check(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="The ANSWERS.yaml that was filled in, or a folder of such files; - for standard input."
        ),
    ],
    sheet: Annotated[
        str | None,
        typer.Option(
            "--sheet",
            "--key",
            metavar="PATH",
            help="Your own ANSWERS.yaml, filled in or not, or a folder of them: answers are marked by these, whatever "
            "model the file itself says.",
        ),
    ] = None,
    format: Format = "table",
) -> None:
    """Mark the answers to a worksheet: which are right, and which mistake explains a wrong one.

    A folder gives a table by file, and how often each mistake was made. Exit code 0 if all are right, 1 if not (also
    where the file's model was changed, or a file of a folder cannot be read), 2 if the file cannot be read.
    """
    from archcalc.exercises.folder import Marker, check_folder

    marker = Marker(map(_answers, _sheets(sheet)))
    report = check_folder(Path(file), marker, _answers) if _is_folder(file) else marker.report(_answers(file))
    show(report, format)
    if not report.all_right:
        raise typer.Exit(NOT_ALL_RIGHT)


def _sheets(path: str | None) -> list[str]:
    from archcalc.exercises.folder import answer_files

    if path is None:
        return []
    return [str(file) for file in answer_files(Path(path))] if _is_folder(path) else [path]


def _is_folder(name: str) -> bool:
    from archcalc.loading import certainly

    return certainly(Path(name).is_dir)


def _answers(name: str) -> Document:
    from archcalc.exercises.answers import document
    from archcalc.loading import yaml_text

    return document(*yaml_text(name, "archcalc worksheet MODEL -o FOLDER"))
