"""A user's mistakes as data: what an error message says, and where in the editor or in the settings it stands."""

from __future__ import annotations

import traceback
from typing import Any

from archcalc import __version__
from archcalc.core.errors import InputError
from archcalc.core.visible import shortened, visible


def mistakes(error: InputError) -> dict[str, Any]:
    """The first mistake, and all of them in the order of their lines."""
    every = [_mistake(one) for one in error.each()]
    return {"error": every[0], "errors": every}


def _mistake(error: InputError) -> dict[str, Any]:
    return {
        "fact": _shown(error.fact),
        "hint": "\n".join(_shown(line) for line in (error.hint, error.more) if line),
        "where": _shown(error.file),
        "line": error.line or None,
        "field": _shown(error.field),
        "text": error.told(),
    }


def _shown(text: str) -> str:
    return visible(shortened(text))


def bug(error: Exception) -> dict[str, Any]:
    """An error of archcalc's own, with what a report of it needs."""
    fact = f"this is a bug in archcalc {__version__}, not a mistake of yours"
    hint = "please report it where you got archcalc from, with the model, the settings and the lines below"
    lines = "".join(traceback.format_exception(error)).splitlines()
    text = "\n".join([fact, f"  {hint}", *(visible(line) for line in lines)])
    told = {"fact": fact, "hint": hint, "where": "", "line": None, "field": "", "text": text}
    return {"error": told, "errors": [told]}
