"""`python -m archcalc` and the `archcalc` command. An interrupt ends it quietly, also while it is being loaded."""

from __future__ import annotations

import gc
import os
import signal
import sys

INTERRUPTED = 128 + signal.SIGINT  # as a shell tells it


def main() -> None:
    """While modules are loaded, and when Python takes them down, an exception would be reported as theirs."""
    interrupts = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # `nohup` and the like ignore them
    if interrupts:
        signal.signal(signal.SIGINT, _quit)
    import archcalc.cli.app  # noqa: F401
    from archcalc.cli import main as run

    try:
        if interrupts:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        if interrupts:
            signal.signal(signal.SIGINT, _quit)
        gc.freeze()  # all goes with the process: looking for garbage in it would take a tenth of the time


def _quit(*_: object) -> None:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
