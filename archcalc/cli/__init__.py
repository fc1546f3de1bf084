"""The command line. Only this package prints, exits, or catches; a command loads, analyzes and renders.

Exit codes: 0 answered, 1 verification found a difference, 2 the input is at fault.
"""

from __future__ import annotations

import os
import sys

from archcalc.errors import InputError


def main() -> None:
    """Run, and turn a user's mistake into one message and exit code 2."""
    from archcalc.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app(sys.argv[1] if len(sys.argv) > 1 else "")()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `archcalc shapes | head` has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
