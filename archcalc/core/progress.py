"""What a long search is doing, told to whoever listens: a terminal, or nobody.

with listening(print):
    doing("12 of 40 presets")
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[str], None]
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


def doing(what: str) -> None:
    """Tell what is being done now."""
    listener = _listener.get()
    if listener:
        listener(what)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    before = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(before)
