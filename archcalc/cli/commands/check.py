"""Mark the answers to a worksheet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.help import LEARN, Help
from archcalc.cli.options import Format, Notes, show

if TYPE_CHECKING:
    from archcalc.spec.yaml_reader import Document


EXAMPLES = {
    "check sheet/ANSWERS.yaml": "which answers are right, and why not?",
    "check handed-in --key sheet/ANSWERS.yaml": "a whole class, by your own sheet",
    "check - < sheet/ANSWERS.yaml": "from standard input",
}
HELP = Help(LEARN, EXAMPLES, place=3)


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
    notes: Notes = False,
) -> None:
    """Mark the answers to a worksheet: which are right, and which mistake explains a wrong one.

    A folder gives a table by file, and how often each mistake was made. Exit code 0 if all are right, 1 if not (also
    where the file's model was changed, or a file of a folder cannot be read), 2 if the file cannot be read.
    """
    from archcalc.exercises.folder import Marker, answer_files, check_folder
    from archcalc.loading import certainly

    sheets = [sheet] if sheet is not None else []
    if sheet is not None and certainly(Path(sheet).is_dir):
        sheets = [str(one) for one in answer_files(Path(sheet))]
    marker, is_folder = Marker(map(_answers, sheets)), certainly(Path(file).is_dir)
    report = check_folder(Path(file), marker, _answers) if is_folder else marker.report(_answers(file))
    show(report, format, failed=not report.all_right, notes=notes)


def _answers(name: str) -> Document:
    from archcalc.exercises.answers import document
    from archcalc.loading import yaml_text

    return document(*yaml_text(name, "archcalc worksheet MODEL -o FOLDER"))
