"""The command line that gives the same answer as a view of the page."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.options import USUAL_MODE, options_of
from archcalc.spec.option import flag_of
from archcalc.ui.reading import Answer, Question
from archcalc.ui.settings import SIZES, options
from archcalc.ui.settings import sizes as checked_sizes
from archcalc.ui.sources import named

TAKEN = {  # the settings that each command takes; sizes change no parameter count
    "params": (),
    "show": (),
    "shapes": SIZES,
    "diagram": SIZES,
    "compare": SIZES,
    **{command: tuple(name for name, _ in options_of(command)) for command in USUAL_MODE},
}


def command_answer(question: Question) -> Answer:
    """Settings that the command does not take change nothing in its answer, and are left out."""
    command = question.text("command")
    if command not in TAKEN:
        raise InputError(f"no command is called {command}", did_you_mean(command, TAKEN), field="command")
    taken = {name: value for name, value in question.settings.items() if name.replace("-", "_") in TAKEN[command]}
    _check(command, taken)
    words = ["archcalc", command, *_models(question, command), *_written(command, taken), *_more(question, command)]
    return {"line": shlex.join(words)}


def _check(command: str, taken: dict[str, Any]) -> None:
    """The line runs: whatever the command would refuse is refused here."""
    if command in USUAL_MODE:
        options(command, taken)
    else:
        checked_sizes(taken)


def _models(question: Question, command: str) -> list[str]:
    sources = question.listed("sources") if command == "compare" else [question.source]
    if not all(isinstance(source, dict) for source in sources):
        raise InputError("expected a model: a preset, a text or a header", field="source")
    return [_safe(named(source)) for source in sources]


def _safe(name: str) -> str:
    """A file whose name begins as options do."""
    return f"./{name}" if name.startswith("-") else name


def _written(command: str, taken: dict[str, Any]) -> Iterator[str]:
    for name, value in taken.items():
        text = str(value).strip()
        if name == "mode" and text == USUAL_MODE.get(command):
            continue
        yield flag_of(name)
        if value is not True and not _is_flag(command, name):
            yield text


def _is_flag(command: str, name: str) -> bool:
    from archcalc.spec.option_checks import flag

    return dict(options_of(command))[name.replace("-", "_")].check is flag if command in USUAL_MODE else False


def _more(question: Question, command: str) -> Iterator[str]:
    if command == "fit":
        for gpu in question.texts("gpus"):
            yield from ("--gpu", gpu)
    metric = question.text("metric", "params")
    if command == "compare" and metric != "params":
        yield from ("--metric", metric)
