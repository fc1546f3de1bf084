"""Hugging Face config.json to a spec: one small translator for each family of model types.

A translator is a file here with

    TYPES      the model types it reads
    USUAL      the task a config stands for that names no class: causal, masked, seq2seq, image
    INERT      declared keys that change no parameter, shape or cost, and so need not be read
    translate  from a Config to the fields of a spec

Files are found, not listed: a new family is a new file, and its classes' defaults in `presets/hf`, which
`tools/hf_defaults.py` writes. Every declared key that a translator neither reads nor calls inert is refused
unless it stands at its default, so that nothing is counted by halves.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from functools import cache
from types import ModuleType


@cache
def translators() -> dict[str, ModuleType]:
    """Every model type that can be read, and the file that reads it."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {model_type: module for module in modules for model_type in getattr(module, "TYPES", ())}


def translator(model_type: str) -> ModuleType | None:
    """The file of that name if it reads the type, which spares loading the others; else whichever does."""
    name = model_type.replace("-", "_")
    if name.isidentifier() and importlib.util.find_spec(f"{__name__}.{name}"):
        module = importlib.import_module(f"{__name__}.{name}")
        if model_type in getattr(module, "TYPES", ()):
            return module
    return translators().get(model_type)
