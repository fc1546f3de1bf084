"""archcalc's own command line, asked in this process: a command becomes the record that it prints, or a refusal."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import signature
from io import StringIO
from typing import Any
from unittest.mock import patch

Record = dict[str, Any]
FOLDER = "archcalc-measured-"  # what the names of folders made for the occasion begin with
MADE = re.compile(rf"\S*/{FOLDER}\w+/")


class Refused(Exception):
    """What archcalc says instead of an answer."""


@dataclass(frozen=True)
class Command:
    """One question: the command, the model as it is typed, and options by their names without dashes."""

    name: str
    model: str
    options: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, name: str, model: str, options: Mapping[str, Any]) -> Command:
        """Without options that have no value, and without those that the command does not have."""
        given = [(option, value) for option, value in options.items() if value not in (None, False, "", ())]
        return cls(name, model, tuple((option, _plain(value)) for option, value in given if _takes(name, option)))

    @property
    def arguments(self) -> list[str]:
        return [self.name, self.model, *(word for option in self.options for word in _words(*option))]

    def __str__(self) -> str:
        """As a user would type it; files made for the occasion by their names alone."""
        return shlex.join(["archcalc", self.name, MADE.sub("", self.model), *self.arguments[2:]])

    def record(self) -> Record:
        """The answer as JSON has it; raises Refused with archcalc's message."""
        return _answer(tuple(self.arguments))


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _words(option: str, value: Any) -> list[str]:
    if isinstance(value, tuple):
        return [word for one in value for word in _words(option, one)]
    return [f"--{option}"] if value is True else [f"--{option}", str(value)]


@cache
def _answer(arguments: tuple[str, ...]) -> Record:
    """Each question is asked once."""
    from archcalc.cli import main

    answer, complaint = StringIO(), StringIO()
    called = ["archcalc", *arguments, "--format", "json"]
    with patch.object(sys, "argv", called), redirect_stdout(answer), redirect_stderr(complaint):
        try:
            main()
        except SystemExit as ended:
            code = ended.code
    if code:
        raise Refused(_message(complaint.getvalue(), code))
    found: Record = json.loads(answer.getvalue())
    return found


def _message(complaint: str, code: Any) -> str:
    """The fact, without the hint; of a bug, what was raised."""
    lines = [line for line in complaint.splitlines() if line.strip()] or [f"exit code {code}"]
    if any(line.startswith("Traceback") for line in lines):
        return f"a bug: {next(line for line in reversed(lines) if not line.startswith(('error:', '  ')))}"
    told = next((line for line in lines if line.startswith("error:")), lines[0]).removeprefix("error: ")
    return MADE.sub("", told)


@cache
def _takes(command: str, option: str) -> bool:
    """Whether a command has the option, by any of its names: `--gpu` may be one of fit alone."""
    from archcalc.run.options import Options
    from archcalc.spec.option import declared, other_names
    from archcalc.spec.sizes import Sizes

    function = getattr(import_module(f"archcalc.cli.commands.{command}"), command)
    name = option.replace("-", "_")
    return other_names((*declared(Options), *declared(Sizes))).get(name, name) in signature(function).parameters
