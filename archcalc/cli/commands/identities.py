"""Claims of lectures and exercises, measured with PyTorch."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from archcalc.cli.help import LEARN, Help
from archcalc.cli.options import Format, Notes, show

EXAMPLES = {
    "identities --list": "which claims are there?",
    "identities alibi": "is what lectures say of ALiBi true?",
    "identities softmax --explain": "with the derivation in steps",
}
HELP = Help(LEARN, EXAMPLES, place=4)


def _completed(incomplete: str) -> list[str]:
    """Names and words that need no quotes in a shell."""
    from archcalc.identities.search import topics

    known = (word for word in topics() if re.fullmatch(r"[\w-]+", word))
    return [word for word in known if word.lower().startswith(incomplete.lower())]


Words = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="WORD",
        autocompletion=_completed,
        show_default=False,
        help="Names of identities, or words that they are about, such as alibi, softmax, 'T(k)' (default: all).",
    ),
]


def identities(
    words: Words = None,
    list_names: Annotated[bool, typer.Option("--list", help="List names and titles; needs no PyTorch.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the derivation in steps, its source, and why a bound is as it is.")
    ] = False,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """Claims about LSTMs, attention, positions and autoencoders, right and wrong ones, each measured with PyTorch.

    Needs the verify extra: pip install 'archcalc[verify]'. Exit code 1 if a claim does not turn out as expected.
    """
    from archcalc.catalog.identities import identities as measured
    from archcalc.catalog.identities import identity_list

    if list_names:
        show(identity_list(words or (), explain=explain), format, notes=notes)
        return
    report = measured(words or (), explain=explain)
    show(report, format, failed=not report.as_expected, notes=notes)
