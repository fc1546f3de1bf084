"""Assistants ask archcalc: a server of the Model Context Protocol."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from archcalc.cli.help import LOOK, Help
from archcalc.core.errors import InputError, MissingExtra

EXAMPLES = {
    "mcp": "a client starts this, nobody types into it",
    "mcp --folder ~/models": "and files of that folder",
    "mcp --network": "and models of the Hub",
}
HELP = Help(LOOK, EXAMPLES, place=7)

Folder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="FOLDER", help="Answer questions about files of this folder, too."),
]
Network = Annotated[bool, typer.Option("--network", help="Answer questions about hf:owner/name, too.")]


def mcp(folder: Folder = None, network: Network = False) -> None:
    """Answer an assistant's questions on standard input and output; its tools are the commands params, shapes, memory,
    fit, explain and compare.

    They read presets and texts that they are given; no file and nothing from the network unless it is allowed here.
    """
    from importlib.util import find_spec

    from archcalc.spec.reach import Reach

    if not find_spec("mcp"):
        raise MissingExtra("the SDK of the Model Context Protocol (mcp)", "mcp")
    if folder is not None and not folder.is_dir():
        raise InputError("there is no such folder", "name one that exists, or leave --folder out", field=str(folder))
    from archcalc.cli.mcp.server import run

    run(Reach(folder, network))
