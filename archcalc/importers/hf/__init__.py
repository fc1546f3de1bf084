"""Translates a Hugging Face config.json to a spec: one small translator for each family of model types.

A translator is a file here with

    TYPES      the model types it reads
    USUAL      the task a config stands for that names no class: causal, masked, seq2seq, image
    INERT      declared keys that change no parameter, shape or cost, by the reason why, and so need not be read
    translate  from a Config to the fields of a spec

and, where `verify` must know how transformers' class differs from it,

    WEIGHTS       how the class keeps its weights (`_helpers/weights.py`)
    unused_flops  FLOPs of one of its modules whose results nothing reads

A family imports no other one: what several share is in `_helpers`, with parameters for what differs.
Files are found, not listed: a new family is a new file, and its classes' defaults in `presets/hf`, which
`tools/hf_defaults.py` writes. Every declared key that a translator neither reads nor calls inert is refused
unless it stands at its default, so that nothing is counted by halves.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from functools import cache
from types import ModuleType

from archcalc.spec.paths import data_root

_PLAIN = re.compile(r"[\w.-]{1,100}")  # a file of the folder


@cache
def translators() -> dict[str, ModuleType]:
    """All supported model types, and the module that translates each."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {model_type: module for module in modules for model_type in getattr(module, "TYPES", ())}


def translator(model_type: str) -> ModuleType | None:
    """The module that the type's defaults name, so that others need not load; None for an unsupported type."""
    file = data_root() / "hf" / f"{model_type}.json" if _PLAIN.fullmatch(model_type) else None
    if file is None or not file.is_file():
        return None
    family = json.loads(file.read_text(encoding="utf-8")).get("family")
    return importlib.import_module(f"{__name__}.{family}") if family else None
