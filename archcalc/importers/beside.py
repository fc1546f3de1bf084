"""Files that are one JSON object, such as a config.json, with the quantisation files beside it merged into it.

ModelOpt writes hf_quant_config.json, AutoGPTQ wrote quantize_config.json, AutoAWQ quant_config.json. Where config.json
says it too, that goes first, as in vLLM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.core.errors import InputError

CONFIG = "config.json"
QUANTISED = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
NAMES = (CONFIG, *QUANTISED)  # what `config` reads, wherever the files come from
_KEYS = ("quantization_config", "compression_config", "quantization")
MAX_JSON = 32_000_000  # bytes; configs that list every expert of every layer have some millions
_MARK = b"\xef\xbb\xbf"  # a byte-order mark, which editors on Windows write


def json_object(raw: bytes, shown: str) -> dict[str, Any] | None:
    """None for a file that is not JSON; a file named .json must be valid JSON."""
    if raw.removeprefix(_MARK).lstrip()[:1] != b"{":
        return None
    if len(raw) > MAX_JSON:
        raise InputError(f"more than {MAX_JSON:,} bytes is too long for a config", "download it again")
    import json

    try:
        said = json.loads(raw, object_pairs_hook=_unambiguous)
    except json.JSONDecodeError as reason:
        if not shown.endswith(".json"):
            return None
        error = InputError(f"not valid JSON: {reason.msg}", "check commas, brackets and quotes; or download it again")
        error.line, error.excerpt = reason.lineno, reason.doc.split("\n")[reason.lineno - 1][:100]
        raise error from None
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """JSON allows a repeated key, and parsers then pick one of its values; refuse that."""
    found = dict(pairs)
    twice = [key for key, value in pairs if found[key] != value and value == value]
    if twice:
        raise InputError("given twice, with two values", "keep one of the two", fields=[(twice[0],)])
    return found


def config(held: Mapping[str, bytes]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The config with its quantisation, and what to say of that; `held` has config.json and what lies beside it."""
    said = json_object(held[CONFIG], CONFIG) or {}
    name = next((name for name in QUANTISED if name in held), None)
    inner = said.get("text_config")
    parts = (said, inner) if isinstance(inner, dict) else (said,)
    if name is None or any(part.get(key) for part in parts for key in _KEYS):
        return said, ()
    try:
        found = json_object(held[name], name)
        if found is None:
            raise InputError("expected a JSON object", "download it again, or delete it")
    except InputError as error:
        error.file = name
        raise
    return {**said, "quantization_config": found}, (f"how the weights are stored: from {name}",)
