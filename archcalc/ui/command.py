"""The command line that gives the same answer as a view of the page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.commands import COMMANDS
from archcalc.run.options import options_of
from archcalc.spec.option import Option, flag_of
from archcalc.spec.option_checks import flag
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import SIZES, on_card, options, sizes, values
from archcalc.ui.sources import named

SIZED = ("shapes", "diagram", "walk", "compare")  # commands that take batch and lengths alone
PLAIN = ("params", "show")  # commands whose answer no setting changes
SEVERAL = ("compare", "plot")  # commands that take several models
ONE_MODE = ("flops", "memory", "fit")
OPTIONS = (*ONE_MODE, "plot", "report")


def command_answer(question: Question) -> Answer:
    command, known = question.text("command"), (*PLAIN, *SIZED, *OPTIONS)
    if command not in known:
        raise InputError(f"no command is called {command}", did_you_mean(command, known), field="command")
    return {"line": line(question, command)}


def line(question: Question, command: str) -> str:
    """Settings that the command does not take change nothing in its answer, and are left out."""
    known: dict[str, Option] = {}
    if command not in PLAIN:
        known = SIZES if command in SIZED else dict(options_of(command))
    settings = on_card(question) if command == "memory" else question.settings
    taken = {name: value for name, value in settings.items() if name.replace("-", "_") in known}
    # The line runs: whatever the command would refuse is refused here.
    if command in SIZED:
        sizes(taken)
    elif command in ONE_MODE:
        options(command, taken)
    elif command in OPTIONS:
        values(command, taken)
    words = ["archcalc", command, *_models(question, command)]
    for name, value in taken.items():
        text = str(value).strip()
        if name != "mode" or text != COMMANDS[command].mode:
            words += [flag_of(name)] if known[name.replace("-", "_")].check is flag else [flag_of(name), text]
    return shlex.join([*words, *_more(question, command)])


def _models(question: Question, command: str) -> list[str]:
    sources = question.listed("sources") if command in SEVERAL else [question.source]
    if not all(isinstance(source, dict) for source in sources):
        raise InputError("expected a model: a preset, a text or a header", field="source")
    names = [named(source) for source in sources]
    return [f"./{name}" if name.startswith("-") else name for name in names]  # as options begin


def _more(question: Question, command: str) -> Iterator[str]:
    if command == "plot":
        yield from ("--x", question.text("x"), "--y", ",".join(question.texts("y") or ["memory"]))
        yield from ("--by", question.text("by")) if question.asked.get("by") else ()
    if command in ("fit", "plot", "report"):
        for gpu in question.texts("gpus"):
            yield from ("--gpu", gpu)
    if command == "fit" and question.asked.get("table"):
        yield from ("--table", question.text("table"))
    metric = question.text("metric", "params")
    if command == "compare" and metric != "params":
        yield from ("--metric", metric)
