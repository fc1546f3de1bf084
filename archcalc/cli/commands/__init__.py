"""The commands, each a function in a file of its name, found by listing this folder.

The first line of the file is what the list of commands says of it.
"""

from __future__ import annotations

import pkgutil

ORDER = (  # of the list in help; whatever is not named here comes after them
    *(
        "about",
        "summary",
        "params",
        "shapes",
        "diagram",
        "flops",
        "memory",
        "fit",
        "report",
        "plot",
        "gpus",
        "compare",
        "ui",
        "kernel",
    ),
    *("verify", "identities", "worksheet", "check", "presets", "show", "init", "explain", "schema"),
)


def names() -> tuple[str, ...]:
    """Every command there is a file for."""
    found = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return (*(name for name in ORDER if name in found), *(name for name in found if name not in ORDER))
