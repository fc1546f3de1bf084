"""What one case may take: 2 GiB of memory and 30 seconds, and what a case that takes more comes to."""

from __future__ import annotations

import resource
import signal
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

MEMORY = 2 << 30  # bytes of address space
SECONDS = 30.0
_PROJECT = str(Path(__file__).parents[2])


class Outcome(NamedTuple):
    """`answered`, `refused` or `wrong`; of what is wrong, where (to tell findings apart) and all there is to say."""

    word: str
    seconds: float
    place: str = ""
    words: str = ""


class Hang(BaseException):
    """Raised by the clock; no `except Exception` takes it for a mistake of its own."""


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    def ring(number: int, frame: Any) -> None:
        raise Hang(f"more than {seconds:g} seconds")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def guarded(trial: Callable[[], bool], seconds: float) -> Outcome:
    """Run a trial, which returns whether it was refused."""
    begin = time.monotonic()
    try:
        with time_limit(seconds):
            word = "refused" if trial() else "answered"
    except (Exception, Hang) as reason:
        return Outcome("wrong", time.monotonic() - begin, _place(reason), _told(reason))
    return Outcome(word, time.monotonic() - begin)


def _place(reason: BaseException) -> str:
    """The kind of mistake, and the innermost line of the project that made it."""
    frames = traceback.extract_tb(reason.__traceback__)
    ours = [frame for frame in frames if frame.filename.startswith(_PROJECT)] or frames
    last = ours[-1]
    where = f"{last.filename.removeprefix(_PROJECT).lstrip('/')}:{last.name}"
    said = "" if isinstance(reason, Hang) else str(reason).split(":")[0][:100]
    return f"{type(reason).__name__} {said} in {where}"


def _told(reason: BaseException) -> str:
    return "".join(traceback.format_exception(reason))[-6000:]
