"""A process that answers questions, one after the other, until its input ends: `python -m archcalc.ui.worker`.

Each message is the number of its bytes in eight, then JSON.
"""

from __future__ import annotations

import gc
import signal
import sys

from archcalc.ui.ask import ask_json

LENGTH = 8  # bytes


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH, "big") + message


def main() -> None:
    """An interrupt is meant for the server, which then closes this input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(50_000, 20, 100)  # as the command line does: many objects, hardly any garbage
    asked, answered = sys.stdin.buffer, sys.stdout.buffer
    while len(length := asked.read(LENGTH)) == LENGTH:
        question = asked.read(int.from_bytes(length, "big")).decode("utf-8", "replace")
        answered.write(framed(ask_json(question).encode()))
        answered.flush()


if __name__ == "__main__":
    main()
