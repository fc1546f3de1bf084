"""The commands, each a function in a file of its name, found by listing this folder.

The first line of the file is what the list of commands says of it; its HELP says in which group, with examples.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

from archcalc.cli.help import Help


def names() -> tuple[str, ...]:
    """Every command there is a file for."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def module(name: str) -> ModuleType:
    """The file of a command."""
    return importlib.import_module(f"{__name__}.{name}")


def sentence(name: str) -> str:
    """What the list of commands says of it."""
    return (module(name).__doc__ or "").partition("\n")[0]


def help_of(name: str) -> Help:
    """What a command declares for its help."""
    declared: Help = getattr(module(name), "HELP", Help())
    return declared
