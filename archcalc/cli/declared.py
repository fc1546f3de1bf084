"""The options of `archcalc.run.options` on the command line: typer is shown them as parameters of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any

import typer

from archcalc.run.options import USUAL_MODE, Options, options_of, other_names
from archcalc.spec.option import Option, declared, flag_of
from archcalc.spec.option_checks import flag
from archcalc.spec.sizes import Sizes

Command = Callable[..., None]


def takes_options(command: Command) -> Command:
    """Give typer one parameter per option; the command itself receives them all as its parameter `options`."""
    return _taking(command, Options.of)


def takes_values(command: Command) -> Command:
    """The same for a command that asks with several values of an option: it receives what was given, by name."""
    return _taking(command, lambda _, given: {name: value for name, value in given.items() if value is not None})


def _taking(command: Command, made: Callable[[str, Mapping[str, Any]], Any]) -> Command:
    name = command.__name__
    own = inspect.signature(command, eval_str=True).parameters
    known = dict(options_of(name))

    def called(**given: Any) -> None:
        options = made(name, {option: given.pop(option) for option in known})
        command(**given, options=options)

    generated = [parameter(option, one, default=USUAL_MODE.get(name)) for option, one in known.items()]
    listed = [one for each in own.values() for one in (generated if each.name == "options" else [each])]
    called.__signature__ = inspect.Signature([by_name(one) for one in listed])  # type: ignore[attr-defined]
    called.__doc__, called.__name__ = command.__doc__, name
    return called


def by_name(parameter: inspect.Parameter) -> inspect.Parameter:
    return parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)


def parameter(name: str, one: Option, *, default: str | None) -> inspect.Parameter:
    """The option as a typer parameter. Only `mode` has a default that help shows; all others default to None."""
    usual = default if name == "mode" else None
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual, annotation=annotated(name, one))


def annotated(name: str, one: Option) -> Any:
    """Values stay strings: the option's own check parses them, for Python and the command line alike."""
    written = (flag_of(name), *one.one_dash)
    if one.check is flag:
        return Annotated[bool | None, typer.Option(*written, help=one.help)]
    shown = typer.Option(*written, metavar=one.metavar, help=one.help)
    return Annotated[list[str] | None, shown] if one.repeatable else Annotated[str | None, shown]


def normalised(command: Command) -> Callable[[str], str]:
    """Map the names that other tools use for an option to the name shown in help."""
    taken = inspect.signature(command).parameters
    options: Iterable[tuple[str, Option]] = (*declared(Options), *declared(Sizes))
    names = other_names((name, one) for name, one in options if name in taken)
    written = {other.replace("_", "-"): name.replace("_", "-") for other, name in names.items()}
    return lambda name: written.get(name, name)
