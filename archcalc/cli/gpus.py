"""The command that lists devices."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.options import Format, show


def completed_gpu(incomplete: str) -> list[str]:
    from archcalc.spec.paths import presets

    return [name for name in presets("gpus") if name.startswith(incomplete)]


Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME", autocompletion=completed_gpu, show_default=False, help="Show this one in full. Left out: all."
    ),
]
Maker = Annotated[
    str | None, typer.Option("--maker", metavar="nvidia|amd|intel|google|apple", help="Those of one maker alone.")
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--kind", metavar="datacenter|workstation|consumer|embedded|tpu|unified", help="Those of one kind alone."
    ),
]
MinMemory = Annotated[
    str | None,
    typer.Option(
        "--min-memory",
        metavar="SIZE",
        help="Those rated at so much memory or more (24GB), or with so much to use (24GiB).",
    ),
]


def gpus(
    name: Name = None, maker: Maker = None, kind: Kind = None, min_memory: MinMemory = None, format: Format = "table"
) -> None:
    """Devices: memory, bandwidth, dense peak and link, each with its source."""
    from archcalc.catalog.gpus import gpus as listed

    show(listed(name, maker=maker, kind=kind, min_memory=min_memory), format)
