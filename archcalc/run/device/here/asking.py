"""Asks a tool of this machine: a subprocess with a short time limit, and one error for whatever goes wrong."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any, NamedTuple

from archcalc.core.errors import InputError

SECONDS = 10  # without its persistence mode a driver takes some of them to wake up
HINT = "name the device instead, such as --gpu rtx-4090 or --gpu 24GB"


class Card(NamedTuple):
    """As its driver calls it, and its memory; 0 where that is not said, as of memory that is shared with a CPU."""

    name: str
    bytes: int


def asked(tool: str, *arguments: str) -> str | None:
    """What the tool prints; None where there is no such tool."""
    program = shutil.which(tool)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *arguments], capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise failed(tool, f"did not answer within {SECONDS} seconds") from None
    except OSError as reason:
        raise failed(tool, f"cannot be run: {reason.strerror or reason}") from None
    if done.returncode:
        lines = f"{done.stdout}\n{done.stderr}".strip().splitlines()
        raise failed(tool, f"failed: {next(iter(lines), f'exit code {done.returncode}').strip()}")
    return done.stdout


def parsed(tool: str, *arguments: str) -> Any:
    """What the tool prints as JSON, which may stand behind warnings; None where there is no such tool."""
    import json

    text = asked(tool, *arguments)
    if text is None:
        return None
    start = min((place for place in (text.find("{"), text.find("[")) if place >= 0), default=0)
    try:
        return json.loads(text[start:])
    except ValueError:
        raise unreadable(tool, text) from None


def unreadable(tool: str, text: str) -> InputError:
    first = (text.strip().splitlines() or ["nothing"])[0].strip()
    return failed(tool, f"printed what is not understood here: {first}")


def failed(tool: str, fact: str) -> InputError:
    return InputError(f"{tool} {fact}", HINT, field="--gpu here")
