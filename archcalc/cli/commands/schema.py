"""JSON Schema of specs, for editors."""

from __future__ import annotations

from archcalc.cli.help import FILES, Help
from archcalc.cli.printing import out

EXAMPLES = {
    "schema > archcalc.schema.json": "a file for your editor",
    "schema | grep -c description": "how much of it is explained?",
    "schema": "print it",
}
HELP = Help(FILES, EXAMPLES, place=4)


def schema() -> None:
    """JSON Schema of specs, for completion and checks in editors."""
    import json

    from archcalc.json_schema import schema as described

    out(json.dumps(described(), indent=2, ensure_ascii=False))
