"""How an answer reaches the user: text that any terminal can show, and what is said where it cannot be written."""

from __future__ import annotations

import codecs
import os
import sys

from archcalc.errors import InputError

_CONTROL = {code: "�" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
_ASCII = str.maketrans("·−–×…█▓▒░▪│✓✗→√²▏▎▍▌▋▊▉", "---x.#=+:o|vx>/2.......")  # one for one, to keep columns in line


class Enough(Exception):
    """Whoever reads the answer wants no more of it: `archcalc shapes | head`."""


def prepare() -> None:
    """Characters that the terminal's encoding has not are shown by others."""
    codecs.register_error("archcalc", _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="archcalc")


def _nearest(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    shown = error.object[error.start : error.end].translate(_ASCII)
    return "".join(character if character.isascii() else "?" for character in shown), error.end


def harmless(text: str) -> str:
    """Without what a terminal takes for a command: names come from files that others wrote."""
    return text.translate(_CONTROL)


def out(text: str) -> None:
    """Print an answer."""
    if sys.stdout is None:
        raise InputError("standard output is closed", "let the answer go somewhere, such as > answer.txt")
    try:
        print(harmless(text), flush=True)
    except BrokenPipeError:
        _drop_the_rest()
        raise Enough from None
    except OSError as reason:
        _drop_the_rest()
        raise InputError(f"the answer cannot be written: {reason.strerror}") from None


def _drop_the_rest() -> None:
    """Python would write it again when it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
