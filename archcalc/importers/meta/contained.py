"""While a stranger's config is at work: no connection, no other program, no kernels, no code of a repository.

Python reports what a process is about to do to its audit hooks, and a hook that raises prevents it. A hook stays for as
long as the process lives, so there is one, which only looks at what is contained: one thread, or the whole process.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_NETWORK = {
    "socket.connect",
    "socket.getaddrinfo",
    "socket.gethostbyname",
    "socket.gethostbyaddr",
    "socket.sendto",
    "socket.sendmsg",
    "socket.bind",
}
_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile"}
_KERNELS = "kernels"  # the package by which transformers fetches compiled code and runs it
_EVERY_THREAD = 0  # no thread has that number
_contained: dict[int, list[str]] = {}  # by thread: which connections were attempted


class Refused(RuntimeError):
    """Raised in the place of what was about to happen."""


@contextmanager
def contained(*, every_thread: bool = False) -> Iterator[list[str]]:
    """Yields attempts to connect, which are to be looked at: transformers may have caught what was raised.

    Programs are refused without a record: transformers looks for compilers by starting them, and does without.
    """
    _watch()
    thread = _EVERY_THREAD if every_thread else threading.get_ident()
    outer, attempts = _contained.get(thread), list[str]()
    with without_kernels(), _without_remote_code():
        _contained[thread] = attempts
        try:
            yield attempts
        finally:
            _contained.pop(thread)
            _contained.update({thread: outer} if outer is not None else {})


@cache
def _watch() -> None:
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event not in _NETWORK and event not in _PROGRAMS:
        return
    attempts = _contained.get(threading.get_ident(), _contained.get(_EVERY_THREAD))
    if attempts is not None:
        attempts += [event] if event in _NETWORK else []
        raise Refused(f"{event} is not allowed while a config is built")


@contextmanager
def without_kernels() -> Iterator[None]:
    """transformers looks for the package when it is imported, too. None in its place reads as: there is none."""
    if _KERNELS in sys.modules:
        yield
        return
    sys.modules[_KERNELS] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        sys.modules.pop(_KERNELS, None)


@contextmanager
def _without_remote_code() -> Iterator[None]:
    """`auto_map` is dropped from every config; this holds even if transformers found another way to it."""
    import transformers.dynamic_module_utils as remote

    names = ("get_class_in_module", "get_cached_module_file")
    before: dict[str, Callable[..., Any]] = {name: getattr(remote, name) for name in names}
    for name in names:
        setattr(remote, name, _no_remote_code)
    try:
        yield
    finally:
        for name, function in before.items():
            setattr(remote, name, function)


def _no_remote_code(*_: Any, **__: Any) -> None:
    raise Refused("code of a repository is never run")
