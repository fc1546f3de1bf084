"""A process that answers questions, one after the other, until its input ends: `python -m archcalc.ui.worker`.

Each message is the number of its bytes in eight, then JSON.
"""

from __future__ import annotations

import gc
import signal
import sys
from contextlib import suppress

from archcalc.ui.ask import ask_json

LENGTH = 8  # bytes


MOST_MEMORY = 2 << 30  # bytes of address space: a header of 32 MiB lists more tensors than any model has


def framed(message: bytes) -> bytes:
    return len(message).to_bytes(LENGTH, "big") + message


def main() -> None:
    """An interrupt is meant for the server, which then closes this input."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(200_000, 20, 100)  # as the command line does: many objects, hardly any garbage
    # Where the system can: Windows has no such module, macOS refuses the limit.
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, most))
    asked, answered = sys.stdin.buffer, sys.stdout.buffer
    while len(length := asked.read(LENGTH)) == LENGTH:
        question = asked.read(int.from_bytes(length, "big")).decode("utf-8", "replace")
        answered.write(framed(ask_json(question).encode()))
        answered.flush()


if __name__ == "__main__":
    main()
