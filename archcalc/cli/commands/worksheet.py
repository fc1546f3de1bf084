"""An exercise about a model: page, key, and a file for answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from archcalc.cli.help import LEARN, Help
from archcalc.cli.options import Like, ModelName, Set, loaded, size
from archcalc.cli.printing import out
from archcalc.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from archcalc.exercises.sheet import Sheet

EXAMPLES = {
    "worksheet textbook": "an exercise to print",
    "worksheet gpt2 --seed 7 -o exercise": "page, key and answers, with sizes of its own",
    "worksheet textbook --key": "the solution, with its working",
}
HELP = Help(LEARN, EXAMPLES, place=2)

SUFFIXES = {".md": "markdown", ".tex": "latex", ".html": "html"}
ANSWERS = "ANSWERS.yaml"


def _seed(text: str | int) -> int:
    try:
        return int(text)
    except ValueError:
        raise typer.BadParameter(f"expected a whole number, found '{text}'") from None


def worksheet(
    model: ModelName = "textbook",
    set: Set = [],
    like: Like = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", parser=_seed, metavar="N", help="Vary the sizes: another number, another sheet."),
    ] = None,
    questions: Annotated[
        str, typer.Option("--questions", metavar="LIST", help="What is asked: params,shapes,flops,memory.")
    ] = "params,shapes",
    depth: Annotated[
        int | None, typer.Option(parser=size, metavar="N", help="How many levels of the tree are asked about (all).")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="|".join(SUFFIXES.values()), help="The page's format (markdown).")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="PATH", help="A folder, or a file for the page: writes page, key and answers."
        ),
    ] = None,
    lang: Annotated[str, typer.Option("--lang", metavar="CODE", help="The language of page and key: en, fa.")] = "en",
    key: Annotated[bool, typer.Option("--key", help="Print the key instead of the page.")] = False,
    answers: Annotated[bool, typer.Option("--answers", help="Print the file of answers to fill in.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite existing files.")] = False,
) -> None:
    """An exercise: the model's sizes, blanks for what is asked, a key with the working, and a file for the answers.

    Prints the page; with -o it writes page, key and ANSWERS.yaml, which `archcalc check` marks.
    """
    from archcalc.exercises.answers import written
    from archcalc.exercises.phrases import UNSEEN_SIGNS
    from archcalc.exercises.sheet import worksheet as made
    from archcalc.render.worksheet import rendered

    asked = [question.strip() for question in questions.split(",") if question.strip()]
    chosen = _format(format, output)
    sheet = made(loaded(model, set, like=like), seed=seed, questions=asked, depth=depth)
    if output is None:
        page = written(sheet) if answers else rendered(sheet, chosen, key=key, lang=lang)
        out(page.rstrip("\n"), kept="" if answers else UNSEEN_SIGNS)
        return
    _write(sheet, Path(output), chosen, lang, force=force)


def _format(format: str | None, output: str | None) -> str:
    """As asked for, or as the name of the file says."""
    if output is not None and not output.strip():
        raise InputError("the name is empty", "name a folder, or a file such as sheet.html", field="--output")
    suffix = Path(output or "").suffix
    usual = SUFFIXES.get(suffix, "markdown")
    if format is None:
        return usual
    if format not in SUFFIXES.values():
        raise InputError(f"no format called {format}", did_you_mean(format, SUFFIXES.values()), field="--format")
    if suffix in SUFFIXES and format != usual:
        raise InputError(f"{output} is named as {usual}, not {format}", "leave --format out", field="--format")
    return format


def _write(sheet: Sheet, where: Path, format: str, lang: str, *, force: bool) -> None:
    """All three files or none: each is looked at before the first is written."""
    from archcalc.cli.new_file import check_free, write
    from archcalc.exercises.answers import written
    from archcalc.render.worksheet import rendered

    page, key, answers = _paths(where, format)
    texts = {page: rendered(sheet, format, lang=lang), key: rendered(sheet, format, key=True, lang=lang)}
    texts[answers] = written(sheet)
    for path in texts:
        check_free(path, replace=force)
    for path, text in texts.items():
        write(path, text, replace=force)
    out(f"wrote {page}, {key} and {answers}; mark them with `archcalc check {answers}`")


def _paths(where: Path, format: str) -> tuple[Path, Path, Path]:
    """In a folder under their usual names, or beside the page that is named."""
    suffix = next(suffix for suffix, known in SUFFIXES.items() if known == format)
    if where.suffix in SUFFIXES:
        return where, where.with_name(f"{where.stem}-key{suffix}"), where.with_name(f"{where.stem}-{ANSWERS}")
    try:
        where.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise InputError(f"this folder cannot be made: {reason.strerror or reason}", field=str(where)) from None
    return where / f"worksheet{suffix}", where / f"key{suffix}", where / ANSWERS
