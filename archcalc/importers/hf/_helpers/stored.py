"""How the weights of a checkpoint are stored, where its config says that they are quantised."""

from __future__ import annotations

import json
import re
from typing import Any

from archcalc.importers.hf._helpers.reading import Config

_OF_TOWERS = re.compile(r"vision|visual|projector|multi_modal|connector|audio|speech")
_OF_LANGUAGE = re.compile(r"language_model|lm_head")
_OF_BLOCKS = ("gptq",)  # methods that quantise the blocks of the language model alone


def quantization(config: Config) -> dict[str, Any] | None:
    """How the weights are stored, where they are quantised: it changes bytes and not parameters."""
    keys = ("quantization_config", "compression_config", "quantization")  # of most, of older ones, of MLX
    found = [(key, config.given(key)) for key in keys]
    key, said = next(((key, value) for key, value in found if value), ("", None))
    if not said:
        return None
    from archcalc.storage.quantization_config.methods import quantised

    if not quantised(said, key):
        return None
    parts = [part for part in (said, said.get("quantization")) if isinstance(part, dict)]
    if any(part.get("kv_cache_scheme") or part.get("kv_cache_quant_algo") for part in parts):
        config.notes.append("the checkpoint has scales for an fp8 KV cache: --kv-dtype fp8 counts it that way")
    return dict(said)


def of_language(said: dict[str, Any]) -> dict[str, Any]:
    """A method of a whole model, with the one part that it quantises where towers are left as they are: its lists name
    them, or what they name is in the language model alone."""
    groups = [group for group in (said.get("config_groups") or {}).values() if isinstance(group, dict)]
    targets = [str(target) for group in groups for target in group.get("targets") or ()]
    targets += said.get("quantized_layers") or ()
    listed = [value for key, value in said.items() if isinstance(value, list)]
    is_left = _OF_TOWERS.search(json.dumps(listed)) or said.get("quant_method") in _OF_BLOCKS
    if is_left or (targets and all(_OF_LANGUAGE.search(target) for target in targets)):
        return {**said, "parts": ["text"]}
    return said
