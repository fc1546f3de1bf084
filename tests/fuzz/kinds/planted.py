"""Mistakes made on purpose, by the name that stands in the place of a seed: the guard must find every one of them."""

from __future__ import annotations

import os
import signal
import time

from fuzz.case import Case, check_message


def run(case: Case) -> None:
    {"fine": lambda case: None, **MISTAKES}[case.seed](case)


def _crash(case: Case) -> None:
    case.call("planted", lambda: [][1])


def _hang(case: Case) -> None:
    while True:
        time.sleep(0.01)


def _memory(case: Case) -> None:
    bytes(4 << 30)


def _signal(case: Case) -> None:
    os.kill(os.getpid(), signal.SIGBUS)


def _deaf(case: Case) -> None:
    """A hang that no alarm can end."""
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(3600)


def _long(case: Case) -> None:
    check_message("9" * 5000)


MISTAKES = {"crash": _crash, "hang": _hang, "memory": _memory, "signal": _signal, "deaf": _deaf, "long": _long}
