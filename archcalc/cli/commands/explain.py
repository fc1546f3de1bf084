"""What a field of a spec means, and an example of it."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import LEARN, Help
from archcalc.cli.options import Format, show

EXAMPLES = {
    "explain kv cache": "what is it, and how large?",
    "explain attention.window": "what does this field of a spec mean?",
    "explain 6ND": "where does the rule come from?",
}
HELP = Help(LEARN, EXAMPLES, place=1)

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="FIELD|TERM",
        help="A field by its name or place, such as window or attention.window, or as others call it; or a term, such"
        " as kv cache, 6ND or LSTM.",
    ),
]


def explain(field: Words, format: Format = "table") -> None:
    """What a field of a spec means, takes and defaults to, with an example; or what a term means, with its formula."""
    from archcalc.catalog.fields import explain as explained

    show(explained(" ".join(field)), format, notes=True)
