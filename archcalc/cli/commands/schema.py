"""JSON Schema of specs, for editors."""

from __future__ import annotations

from archcalc.cli.printing import out


def schema() -> None:
    """JSON Schema of specs, for completion and checks in editors."""
    import json

    from archcalc.json_schema import schema as described

    out(json.dumps(described(), indent=2, ensure_ascii=False))
