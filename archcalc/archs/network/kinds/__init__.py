"""Kinds of layers, one file each; `archcalc.archs.network.layer` says what a file gives."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any


@cache
def kinds() -> dict[str, Any]:
    """The module of each word that a layer may start with."""
    modules = [importlib.import_module(f"{__name__}.{found.name}") for found in pkgutil.iter_modules(__path__)]
    return {word: module for module in modules for word in getattr(module, "WORDS", ())}
