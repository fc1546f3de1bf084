"""Printing: text that any terminal can show, and the error when standard output cannot be written."""

from __future__ import annotations

import codecs
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TextIO

from archcalc.cli import progress
from archcalc.core.errors import InputError
from archcalc.core.visible import visible
from archcalc.render.style import MARKS, ON_TERMINAL, UNSTYLED

NARROWEST = 20  # columns; below that nothing can be laid out
NO_COLOUR = ("0", "false", "no", "off")  # of FORCE_COLOR
_LAYOUT = "\n\t"  # control characters that an answer may have
_ASCII: dict[int, int | str] = {  # one for one, to keep columns in line
    **str.maketrans("·−–×…█▓▒░▪│✓✗→≈±√²▏▎▍▌▋▊▉", "---x.#=+:o|vx>~~/2......."),
    **str.maketrans("●○■□▲△◆◇╳─╌┤┴└▁▂▃▄▅▆▇▼", "o+*#@%&$X--++`...:::#v"),
    **{0x2800 + dots: "." for dots in range(1, 256)},  # braille
}


class Enough(Exception):
    """The reader of the pipe has closed it, as in `archcalc shapes | head`."""


@dataclass(eq=False)  # streams are told apart by identity
class _Guarded:
    """Standard output that reports failed writes as archcalc errors, whether a command or typer's help writes."""

    stream: TextIO

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.stream, name)
        return partial(self._told, found) if name in ("write", "flush") else found

    def _told(self, written: Callable[..., Any], *text: str) -> Any:
        if text == ("",):  # by which typer asks what kind of stream this is; unbuffered, a full disk refuses even that
            return 0
        try:
            return written(*text)
        except OSError as reason:
            # discard unwritten output, which Python would otherwise try to write again at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.stream.fileno())
            if isinstance(reason, BrokenPipeError):
                raise Enough from None
            raise InputError(f"the answer cannot be written: {reason.strerror}") from None


@contextmanager
def prepared() -> Iterator[None]:
    """Characters that the terminal's encoding lacks are replaced; a failing write is reported."""
    codecs.register_error("archcalc", _nearest)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="archcalc")
    before = sys.stdout
    try:
        if before is not None:
            sys.stdout = _Guarded(before)
        yield
    finally:
        sys.stdout = before


def _nearest(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    shown = error.object[error.start : error.end].translate(_ASCII)
    return "".join(character if character.isascii() else "?" for character in shown), error.end


def out(text: str, kept: str = "") -> None:
    """Print an answer; `kept` are signs without a form that its language needs."""
    if sys.stdout is None:
        raise InputError("standard output is closed", "redirect it to a file: > answer.txt")
    for line in progress.running:
        line.erase()
    print(as_shown(text, kept), flush=True)


def as_shown(text: str, kept: str = "") -> str:
    """In colour where that is wanted; names from files were escaped before."""
    return visible(text, _LAYOUT + MARKS + kept).translate(ON_TERMINAL if is_coloured() else UNSTYLED)


def width() -> int:
    """Columns of the terminal."""
    return max(shutil.get_terminal_size(fallback=(80, 24)).columns, NARROWEST)


def is_coloured() -> bool:
    """On a terminal, unless the user wants it otherwise. The conventions, the first that says something wins: NO_COLOR
    (https://no-color.org), FORCE_COLOR (0 for no colour), CLICOLOR_FORCE and CLICOLOR (https://bixense.com/clicolors),
    TERM=dumb."""
    environment = {name: os.environ.get(name, "") for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR")}
    if environment["NO_COLOR"] or environment["FORCE_COLOR"].lower() in NO_COLOUR:
        return False
    if environment["FORCE_COLOR"] or environment["CLICOLOR_FORCE"] not in ("", "0"):
        return True
    plain = environment["CLICOLOR"] == "0" or os.environ.get("TERM") == "dumb"
    return not plain and bool(sys.stdout) and sys.stdout.isatty()


def complain(text: str) -> None:
    """Write to standard error, if it is open."""
    with suppress(OSError, AttributeError):  # full, or closed and therefore None
        sys.stderr.write(f"{visible(text, _LAYOUT)}\n")
        sys.stderr.flush()
