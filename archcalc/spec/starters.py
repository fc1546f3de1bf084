"""Commented specs to start from: every file of `presets/starters`, by its name."""

from __future__ import annotations

import re

from archcalc.core.errors import InputError, close_guess
from archcalc.spec.paths import data_root

USUAL = "transformer"


def starters() -> list[str]:
    """The names of all, the usual one first."""
    found = sorted(file.stem for file in (data_root() / "starters").glob("*.yaml"))
    return sorted(found, key=lambda name: name != USUAL)


def completed_starter(incomplete: str) -> list[str]:
    return [name for name in starters() if name.startswith(incomplete)]


def starter_of(name: str) -> str:
    """The text of one."""
    if name.lower() not in starters():
        first_lines = {each: re.findall(r"\w+", _text(each).partition("\n")[0].lower()) for each in starters()}
        meant = [each for each, words in first_lines.items() if name.lower() in words]  # such as LSTM or GPT
        guess = f"did you mean {' or '.join(meant)}?" if meant else close_guess(name, starters())
        raise InputError(
            f"no starter called {name}", f"there are {', '.join(starters())}", more=guess, field="--family"
        )
    return _text(name.lower())


def _text(name: str) -> str:
    return (data_root() / "starters" / f"{name}.yaml").read_text(encoding="utf-8")
