"""GPUs and other devices: memory, bandwidth, peak FLOP/s."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import RUN, Help
from archcalc.cli.options import Format, Notes, completed_gpu, show

EXAMPLES = {
    "gpus 4090": "memory, bandwidth and peak FLOP/s of one card",
    "gpus --maker amd --kind datacenter": "which ones does a maker have?",
    "gpus --min-memory 80GB": "which have at least 80 GB?",
}
HELP = Help(RUN, EXAMPLES, place=3)

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        autocompletion=completed_gpu,
        show_default=False,
        help="Show one device in full; list all without it.",
    ),
]


def completed_maker(incomplete: str) -> list[str]:
    from archcalc.run.device import makers

    return [maker.lower() for maker in makers() if maker.lower().startswith(incomplete.lower())]


Maker = Annotated[
    str | None,
    typer.Option(
        "--maker", metavar="NAME", autocompletion=completed_maker, help="Devices of one maker, such as nvidia or amd."
    ),
]
Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="datacenter|workstation|consumer|embedded|tpu|unified", help="Devices of one kind."),
]
MinMemory = Annotated[
    str | None,
    typer.Option(
        "--min-memory",
        metavar="SIZE",
        help="Devices sold with at least this much memory (24GB), or reporting as much (24GiB).",
    ),
]


def gpus(
    name: Name = None,
    maker: Maker = None,
    kind: Kind = None,
    min_memory: MinMemory = None,
    format: Format = "table",
    notes: Notes = False,
) -> None:
    """GPUs and other devices: memory, bandwidth, dense peak FLOP/s and interconnect, each with its source."""
    from archcalc.catalog.gpus import gpus as listed

    show(listed(name, maker=maker, kind=kind, min_memory=min_memory), format, notes=notes or name is not None)
