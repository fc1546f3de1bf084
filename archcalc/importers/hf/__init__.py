"""Hugging Face config.json to a spec: one small translator for each family of model types.

A translator is a file here with

    TYPES      the model types it reads
    USUAL      the task a config stands for that names no class: causal, masked, seq2seq, image
    INERT      declared keys that change no parameter, shape or cost, and so need not be read
    translate  from a Config to the fields of a spec

Files are found, not listed: a new family is a new file, and its classes' defaults in `presets/hf`, which
`benchmarks/hf_defaults.py` writes. Every declared key that a translator neither reads nor calls inert is refused
unless it stands at its default, so that nothing is counted by halves.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType

SHARED = ("reading", "words", "patterns", "heads", "blocks", "imported")


@cache
def translators() -> dict[str, ModuleType]:
    """Every model type that can be read, and the file that reads it."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if module.name not in SHARED]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in sorted(names)]
    return {model_type: module for module in modules for model_type in module.TYPES}


def translator(model_type: str) -> ModuleType | None:
    """The file of that name if it reads the type, which spares loading the others; else whichever does."""
    try:
        module = importlib.import_module(f"{__name__}.{model_type.replace('-', '_')}")
        if model_type in getattr(module, "TYPES", ()):
            return module
    except ImportError:
        pass
    return translators().get(model_type)
