"""Merges the quantisation files beside config.json into the config.

ModelOpt writes hf_quant_config.json, AutoGPTQ wrote quantize_config.json, AutoAWQ quant_config.json. Where config.json
says it too, that goes first, as in vLLM.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.json_object import json_object

CONFIG = "config.json"
QUANTISED = ("hf_quant_config.json", "quantize_config.json", "quant_config.json")
NAMES = (CONFIG, *QUANTISED)  # what `config` reads, wherever the files come from
_KEYS = ("quantization_config", "compression_config", "quantization")


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
