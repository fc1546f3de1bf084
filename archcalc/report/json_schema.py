"""JSON Schema of an answer (`--format json`): what every answer has. The keys of a question stand beside these."""

from __future__ import annotations

from typing import Any

from archcalc.json_schema import DIALECT, identity
from archcalc.report.base import SCHEMA_VERSION

ASSUMPTION = {
    "topic": {"type": "string", "description": "What it is about, in one word; the list of words may grow."},
    "value": {"type": ["string", "integer", "null"], "description": "What was assumed, where that is one value."},
    "option": {"type": "string", "description": "The option that changes it, or empty."},
    "text": {"type": "string", "description": "The sentence, which may be reworded."},
}
ANSWER = {
    "schema_version": {"const": SCHEMA_VERSION, "description": "Grows when a key is renamed, removed or redefined."},
    "assumptions": {
        "type": "array",
        "items": {"type": "object", "properties": ASSUMPTION, "required": [*ASSUMPTION]},
        "description": "What the figures rest on.",
    },
    "rows": {"type": "array", "items": {"type": "object"}, "description": "The table, a row an object."},
}
OFTEN = {
    "model": {"type": "string", "description": "The model, by its name."},
    "summary": {"type": "string", "description": "The answer in a sentence."},
}


def schema() -> dict[str, Any]:
    head = {"$schema": DIALECT, "$id": identity("answer", SCHEMA_VERSION), "title": "archcalc answer", "type": "object"}
    return {**head, "properties": {**ANSWER, **OFTEN}, "required": [*ANSWER]}
