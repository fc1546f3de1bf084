"""The command that explains a field of a spec."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Format, show

Field = Annotated[
    str,
    typer.Argument(
        metavar="FIELD", help="A field by its name or place, such as window or attention.window, or as others call it."
    ),
]


def explain(field: Field, format: Format = "table") -> None:
    """What a field of a spec means, what it takes, its default, where it may stand, and an example."""
    from archcalc.catalog.fields import explain as explained

    show(explained(field), format)
