"""What ships of a model type of config.json: the fields and defaults of its class, and what each of its classes is for.

`tools/hf_defaults.py` writes the files of the types that transformers registers. A type whose class lies beside its
weights is written by hand: its source, and what differs from the type that it is `like`.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root

LIKE = "like"
_PARTS = ("defaults", "aliases")


@cache
def described(model_type: str) -> dict[str, Any]:
    """Nothing for a type without a file."""
    file = data_root() / "hf" / f"{model_type}.json"
    if not model_type or not file.exists():
        return {}
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    if LIKE not in found:
        return found
    other = described(found[LIKE])
    return {**other, **found, **{part: {**other[part], **found.get(part, {})} for part in _PARTS}}
