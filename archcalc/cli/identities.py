"""The command that checks claims about architectures by running them."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Format, show
from archcalc.cli.printing import out


def _completed(incomplete: str) -> list[str]:
    from archcalc.identities import names

    return [name for name in names() if name.startswith(incomplete)]


Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME", autocompletion=_completed, show_default=False, help="Identities to measure (default: all)."
    ),
]


def identities(
    names: Names = None,
    list_names: Annotated[bool, typer.Option("--list", help="List the names; needs no PyTorch.")] = False,
    format: Format = "table",
) -> None:
    """Claims about LSTMs, attention, positions and autoencoders, right and wrong ones, each measured with PyTorch.

    Needs the verify extra: pip install 'archcalc[verify]'. Exit code 1 if a claim does not turn out as expected.
    """
    if list_names:
        from archcalc import identities as known

        out("\n".join(known.names()))
        return
    from archcalc.catalog.identities import identities as measured

    report = measured(names or ())
    show(report, format)
    if not report.as_expected:
        raise typer.Exit(1)
