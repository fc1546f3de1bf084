"""A line on the terminal that says what takes so long, from the first second on; gone before the answer."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from archcalc.core.progress import listening
from archcalc.core.visible import visible

PATIENCE, PAUSE = 1.0, 0.1  # seconds before the first line, and between two
ERASE = "\r\x1b[2K"


class Line:
    """The last line of standard error."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.next = self.since + PATIENCE
        self.is_shown = False

    def show(self, what: str) -> None:
        now = time.monotonic()
        if now < self.next:
            return
        text = visible(f"{what} … {now - self.since:.0f} s")
        self._write(ERASE + text[: shutil.get_terminal_size().columns - 1])
        self.next, self.is_shown = now + PAUSE, True

    def erase(self) -> None:
        if self.is_shown:
            self._write(ERASE)
        self.is_shown = False

    def _write(self, text: str) -> None:
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:  # a terminal that is gone
            self.next = float("inf")


running: list[Line] = []  # which an answer erases before it is printed


@contextmanager
def shown() -> Iterator[None]:
    """While a command runs, on a terminal; nothing is written to a pipe or a file."""
    if sys.stderr is None or not sys.stderr.isatty() or os.environ.get("TERM", "dumb") == "dumb":
        yield
        return
    line = Line()
    running.append(line)
    try:
        with listening(line.show):
            yield
    finally:
        running.remove(line)
        line.erase()
