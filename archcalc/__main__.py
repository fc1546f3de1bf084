"""`python -m archcalc` and the `archcalc` command. An interrupt ends it quietly, also while it is being loaded."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 128 + signal.SIGINT  # as a shell tells it


def main() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        _interruptible()
    else:  # `nohup` and the like let a program ignore it
        _run()


def _interruptible() -> None:
    """While modules are loaded, and when Python takes them down, an exception would be reported as theirs."""
    signal.signal(signal.SIGINT, _quit)
    import archcalc.cli.app  # noqa: F401

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    finally:
        signal.signal(signal.SIGINT, _quit)


def _quit(*_: object) -> None:
    os._exit(INTERRUPTED)


def _run() -> None:
    from archcalc.cli import main as run

    run()


if __name__ == "__main__":
    main()
