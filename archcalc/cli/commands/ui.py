"""The explorer: a page in the browser, answered by this machine alone."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from archcalc.cli.browser import window
from archcalc.cli.help import LOOK, MODEL, Help
from archcalc.cli.options import completed_preset
from archcalc.cli.printing import out
from archcalc.core.errors import InputError

EXAMPLES = {
    "ui": "choose a model, move sliders, compare",
    "ui llama-3.1-8b": "begin with this one",
    "ui --no-browser --port 8000": "print the address, and open nothing",
}
HELP = Help(LOOK, EXAMPLES, place=5)

Model = Annotated[
    str | None,
    typer.Argument(
        metavar="MODEL",
        rich_help_panel=MODEL,
        autocompletion=completed_preset,
        show_default=False,
        help="A preset to begin with (default: the textbook Transformer). Files are opened on the page.",
    ),
]
Port = Annotated[int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port (default: any free one).")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address without opening it.")]


def ui(model: Model = None, port: Port = 0, no_browser: NoBrowser = False) -> None:
    """Open the explorer in the browser: choose or edit a model, move sliders, compare.

    Answers come from this machine alone, on a port that no other machine reaches, to pages that have the token of the
    address. Ctrl-C ends it.
    """
    from archcalc.loading import preset_called
    from archcalc.spec import paths
    from archcalc.ui.running import bound, run

    preset, _ = (model and preset_called(model, paths.presets())) or ("", ())
    if model and not preset:
        raise InputError(f"no preset is called {model}", "leave it out, and open the file on the page", field="MODEL")
    run(bound(port), preset, partial(_opened, no_browser=no_browser))


def _opened(address: str, *, no_browser: bool) -> None:
    """Beside the server, which has to answer the browser."""
    from threading import Thread

    out(f"{address}\nCtrl-C ends it")
    if not no_browser:
        Thread(target=_browse, args=(address,), daemon=True).start()


def _browse(address: str) -> None:
    """In a window; a browser that takes the terminal would keep the server's own."""
    found = window()
    if found:
        found.open(address)
