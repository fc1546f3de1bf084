"""What a tool takes: the parameters of its command, under their names and with their sentences, as JSON Schema."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, get_args

import typer.models

from archcalc.core.errors import InputError, did_you_mean
from archcalc.run.commands import COMMANDS
from archcalc.run.option_values import measured, parts, ram
from archcalc.run.options import options_of
from archcalc.spec.option import Option, flag_of, other_names
from archcalc.spec.option_checks import Check, flag, fraction, memory_size, names, number, size, text, texts

ANSWERED = ("params", "shapes", "memory", "fit", "explain", "compare")
LEFT_OUT = ("format", "trace", "check")  # how an answer is printed, what runs the code of transformers, an exit code
MODEL = "A preset's name, the text of a spec or of a config.json, or a file of the folder that the server was given."
TEXT, YES, COUNT = {"type": "string"}, {"type": "boolean"}, {"type": ["integer", "string"]}
SEVERAL = {"type": ["array", "string"], "items": TEXT}
KINDS: dict[Check, dict[str, Any]] = {  # of values that are no plain text
    **dict.fromkeys((size, number, memory_size, ram, measured), COUNT),
    **dict.fromkeys((names, parts, texts), SEVERAL),
    fraction: {"type": ["number", "string"]},
    flag: YES,
}


@dataclass(frozen=True)
class Input:
    """One parameter of a command."""

    name: str
    schema: Mapping[str, Any]
    is_required: bool
    usual: Any
    check: Check | None = None  # None: the command checks it
    also: tuple[str, ...] = field(default=())

    def read(self, value: Any) -> Any:
        """As the command takes it."""
        found = value if self.check is None or value is None else self.check(value, flag_of(self.name))
        return list(found) if isinstance(found, tuple) else found


@cache
def function(command: str) -> Callable[..., None]:
    found: Callable[..., None] = getattr(importlib.import_module(f"archcalc.cli.commands.{command}"), command)
    return found


@cache
def inputs(command: str) -> dict[str, Input]:
    parameters = inspect.signature(function(command), eval_str=True).parameters.values()
    declared = dict(options_of(command)) if command in COMMANDS else {}
    listed = [one for one in parameters if one.name not in LEFT_OUT]
    return {one.name: _declared(one, declared[one.name]) if one.name in declared else _own(one) for one in listed}


def schema(command: str) -> dict[str, Any]:
    known = inputs(command)
    required = [one.name for one in known.values() if one.is_required]
    properties = {one.name: dict(one.schema) for one in known.values()}
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def arguments(command: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Of the command's function; options go by the names that other tools have for them, too."""
    known, found = inputs(command), dict[str, Any]()
    others = other_names((name, option) for name, option in options_of(command)) if command in COMMANDS else {}
    for written, value in given.items():
        name = written.replace("-", "_")
        name = others.get(name, name)
        if name not in known:
            raise InputError(f"no option called {written}", did_you_mean(name, known), field=command)
        found[name] = known[name].read(value)
    missing = [one.name for one in known.values() if one.is_required and not found.get(one.name)]
    if missing:
        raise InputError("missing", str(known[missing[0]].schema["description"]), field=missing[0])
    parameters = inspect.signature(function(command)).parameters.values()
    return {**{one.name: one.default for one in parameters}, **found}


def _declared(parameter: inspect.Parameter, option: Option) -> Input:
    """An option of a run."""
    kind = {**KINDS.get(option.check, TEXT), "description": option.help}
    if option.choices:
        kind["enum"] = [*option.choices, *option.spellings]
    if parameter.default is not None:
        kind["default"] = parameter.default
    return Input(parameter.name, kind, False, parameter.default)


def _own(parameter: inspect.Parameter) -> Input:
    """What the command alone takes: typer has its sentence."""
    kind, shown = get_args(parameter.annotation)
    check: Check = text
    if bool in (kind, *get_args(kind)):
        check = flag
    elif shown.parser:
        check = size
    elif "list[" in str(kind):
        check = texts
    is_argument = isinstance(shown, typer.models.ArgumentInfo)
    about = MODEL if is_argument and parameter.name.startswith("model") else shown.help
    described = {**KINDS.get(check, TEXT), "description": about}
    is_required = is_argument and parameter.default is not None
    return Input(parameter.name, described, is_required, parameter.default, check)
