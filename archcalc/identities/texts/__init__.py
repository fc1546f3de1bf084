"""The texts of all identities, by name: a file for each section. Imports no PyTorch."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from archcalc.identities.description import About


@cache
def all_texts() -> dict[str, About]:
    """What every file of this package says."""
    files = [import_module(f"{__name__}.{file.name}") for file in iter_modules(__path__)]
    return {name: about for file in files for name, about in file.ABOUT.items()}
