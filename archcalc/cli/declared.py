"""The options of `archcalc.run.all_options` on the command line: typer is shown them as parameters of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from archcalc.cli import help_pages
from archcalc.cli.help import PANELS
from archcalc.cli.printing import as_shown, is_coloured
from archcalc.run.options import Options, options_of
from archcalc.spec.option import Option, declared, flag_of, other_names
from archcalc.spec.option_checks import flag
from archcalc.spec.sizes import Sizes

EVERY = "--help-all"
Function = Callable[..., None]


def takes_options(function: Function) -> Function:
    """Give typer one parameter per option of the command that the parameter `options` is annotated with. Where its type
    is a class that declares them, `Options` or one with further options of its own, they are checked; otherwise, for a
    command that asks with several values of an option, they come as they were given, by name."""
    own = inspect.signature(function, eval_str=True).parameters
    annotated, asked = get_args(own["options"].annotation)
    is_checked = isinstance(annotated, type) and issubclass(annotated, Options)
    holder: Any = annotated if is_checked else Options
    known = dict(options_of(asked, holder))

    def called(**given: Any) -> None:
        values = {name: given[name] for name in known if given[name] is not None}
        others = {name: value for name, value in given.items() if name not in known}
        function(**others, options=holder.of(asked, values) if is_checked else values)

    generated = [parameter(name, one, asked.mode if name == "mode" else None) for name, one in known.items()]
    listed = [one for each in own.values() for one in (generated if each.name == "options" else [each])]
    by_name = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in listed]
    called.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    called.__doc__, called.__name__ = function.__doc__, function.__name__
    return called


def parameter(name: str, one: Option, usual: str | None) -> inspect.Parameter:
    """The option as a typer parameter. Values stay strings: the option's own check parses them, for Python and the
    command line alike."""
    panel = PANELS[one.group]
    shown: dict[str, Any] = {"help": one.help, "rich_help_panel": panel if one.first else panel.rest}
    kind: Any = bool
    if one.check is not flag:
        kind = list[str] if one.repeatable else str
        shown |= {"metavar": one.metavar, "autocompletion": one.completed}
    annotation = Annotated[kind | None, typer.Option(flag_of(name), *one.one_dash, **shown)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=usual or None, annotation=annotation)


class Documented(TyperCommand):
    """A command with a page of help by the questions that options are about, and with other tools' names of them."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """typer builds a validator of each option that it reads, which takes a millisecond: not of those left out.
        Versions without validators (`get_runtime_param`) convert defaults themselves."""
        taken = {one.name for one in self.params}
        names = other_names((name, one) for name, one in (*declared(Options), *declared(Sizes)) if name in taken)
        written = {other.replace("_", "-"): name.replace("_", "-") for other, name in names.items()}
        ctx.token_normalize_func = lambda name: written.get(name, name)
        ctx.color, ctx.meta[EVERY] = is_coloured(), EVERY in args
        typed, asks_help = self.make_parser(ctx).parse_args(list(args))[0], self.get_help_option(ctx)
        if not ctx.resilient_parsing and not (asks_help and asks_help.name in typed):  # which want all of them
            validated = [one for one in self.params if hasattr(one, "get_runtime_param")]
            options = [one for one in validated if one.param_type_name == "option" and not one.required]
            left = [one for one in options if one.name not in typed]
            ctx.params.update((one.name, one.get_default(ctx)) for one in left)
            self.params = [one for one in self.params if one not in left]
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return as_shown(help_pages.command(str(self.name), self, every=ctx.meta[EVERY]))


class Program(TyperGroup):
    """archcalc itself, with the list of its commands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.color = is_coloured()
        return super().parse_args(ctx, args)

    def get_help(self, ctx: Any) -> str:
        return as_shown(help_pages.program())
