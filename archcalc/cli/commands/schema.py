"""JSON Schema of specs, for editors, and of JSON answers."""

from __future__ import annotations

from typing import Annotated

import typer

from archcalc.cli.help import FILES, Help
from archcalc.cli.printing import out
from archcalc.core.errors import InputError, did_you_mean

EXAMPLES = {
    "schema > archcalc.schema.json": "a file for your editor",
    "schema | grep -c description": "how much of it is explained?",
    "schema answer": "what every JSON answer has",
}
HELP = Help(FILES, EXAMPLES, place=4)
SCHEMAS = {"spec": "archcalc.json_schema", "answer": "archcalc.report.json_schema"}
What = Annotated[str, typer.Argument(metavar="spec|answer", help="What is described: specs, or --format json.")]


def schema(what: What = "spec") -> None:
    """JSON Schema of specs, for completion and checks in editors; or of the answers that --format json prints."""
    import importlib
    import json

    if what not in SCHEMAS:
        raise InputError(f"no schema is called {what}", did_you_mean(what, SCHEMAS))
    out(json.dumps(importlib.import_module(SCHEMAS[what]).schema(), indent=2, ensure_ascii=False))
