"""The program with its commands. Describing one to typer takes time, so only the one that is called is described; for
help, completion and a misspelt name all are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from typing import Any

import typer

from archcalc.cli import commands, help_pages
from archcalc.cli.declared import EVERY, Documented, Program
from archcalc.cli.printing import out
from archcalc.cli.reading import takes_media
from archcalc.core.errors import InputError, closest
from archcalc.version import __version__

ABOUT, HELP = "about", "help"  # the command that `archcalc MODEL` is short for; what people type for --help
OF_A_RUN = "`archcalc fit --help` and `archcalc memory --help` list the options of a run"
UsageError: type[Exception] = typer.BadParameter.__mro__[1]  # click's, or that of the click inside typer


def answered(called: str, arguments: list[str]) -> int:
    """The exit code of a command; of nothing at all, what to type first."""
    if arguments:
        return app(called)(arguments, standalone_mode=False) or 0
    out(help_pages.welcome())
    return 0


def app(called: str = "") -> typer.Typer:
    """archcalc with the command that is called, or with all of them."""
    made = typer.Typer(
        name="archcalc",
        cls=Program,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,  # a traceback is a bug of ours: as Python writes it, for a report
        context_settings={"help_option_names": ["-h", "--help", EVERY]},
    )
    made.callback()(archcalc)
    known = commands.names()
    for name in [called] if called in known else known:
        function = takes_media(getattr(commands.module(name), name))
        made.command(name, cls=Documented, short_help=commands.sentence(name))(function)
    return made


def _version(asked: bool) -> None:
    if asked:
        out(f"archcalc {__version__}")
        raise typer.Exit


def archcalc(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Neural networks counted exactly."""


# Errors that typer finds in a command line, in the form of every archcalc error.
# Which option, what was expected and what it may have meant are attributes of typer's exceptions; the sentences that it
# makes of them differ from version to version.


def in_full(arguments: list[str], known: Sequence[str]) -> list[str]:
    """`MODEL` is short for `about MODEL`, and `help fit` is `fit --help`."""
    if not arguments:
        return arguments
    first, *others = arguments
    if first == HELP:
        return [*others[:1], "--help"]
    if first in known or not names_a_model(first, known):
        return arguments
    if others and others[0] in known:
        hint = f"write `{shlex.join(['archcalc', others[0], first, *others[1:]])}`"
        raise InputError("the command stands before the model", hint, field=others[0])
    return [ABOUT, *arguments]


def names_a_model(word: str, known: Sequence[str]) -> bool:
    """Whether the first word stands for a model instead of a command or an option; what is neither is refused with what
    it may have meant."""
    if word.startswith("-") and word != "-":
        return False
    from archcalc.loading import is_model

    if is_model(word):
        return True
    from archcalc.spec.paths import presets
    from archcalc.spec.preset_names import likely

    close = closest(word, known) + (likely(word, presets()) or closest(word, presets()))
    hint = f"did you mean {' or '.join(close[:3])}?" if close else "`archcalc --help` lists commands"
    more = "`archcalc presets` lists models; a file of your own is a model too"
    raise InputError(f"no command, model or file is called {word}", hint, more=more)


def in_pieces(arguments: Sequence[str], known: Sequence[str]) -> InputError | None:
    """What to write where the words that stand together are one model's name: `fit llama 3.1 8b`."""
    from archcalc.loading import is_model

    command = [word for word in arguments[:1] if word in known]
    words = list(takewhile(lambda word: not word.startswith("-"), arguments[len(command) :]))
    name, others = "-".join(words), arguments[len(command) + len(words) :]
    with suppress(InputError):  # of a name that is no model's either
        if len(words) > 1 and all(map(str.strip, words)) and not is_model(words[0]) and is_model(name):
            hint = f"write `{shlex.join(['archcalc', *command, name, *others])}`"
            return InputError("a model's name is one word", hint, field=" ".join(words))
    return None


def mistake(error: Any, command: str) -> InputError:
    """`--seq: expected a whole number …`, and which --help to read."""
    where = " ".join(part for part in ("archcalc", command, "--help") if part)
    param = getattr(error, "param", None)
    options = [name for name in getattr(param, "opts", ()) if name.startswith("-")]
    named = getattr(param, "metavar", None) or (getattr(param, "name", None) or "").upper()
    field, close = str(options[0] if options else named), []  # as help names it
    said = str(error.message).rstrip(".")
    fact = said[:1].lower() + said[1:]
    if hasattr(error, "possibilities"):
        fact, field = "no such option", str(error.option_name)  # as typed
        near = closest(field, error.possibilities or ()) or sorted(error.possibilities or ())
        close = [f"did you mean {' or '.join(near)}?"] if near else []
    elif hasattr(error, "param_type"):
        fact, close = "missing", [f"such as `archcalc {line}`" for line in commands.help_of(command).examples][:1]
    listed = OF_A_RUN if command == ABOUT else f"`{where}` lists its options"
    hint, more = (*close, listed, "")[:2]
    return InputError(fact, hint, more=more, field=field)
