"""The command line. Only this package prints, exits and catches errors; a command loads, analyzes and renders.

Exit codes: 0 answered, 1 a comparison found a difference (verify, identities) or an answer is wrong (check), 2 the
input is at fault, 70 archcalc is at fault (a bug), 130 interrupted.
"""

from __future__ import annotations

import gc
import sys

from archcalc.core.errors import InputError

# A program that ends soon makes many objects and hardly any garbage: looking for it took a quarter of the time.
GARBAGE_THRESHOLDS = (200_000, 20, 100)
FAULTY_INPUT, BUG = 2, 70  # EX_SOFTWARE of sysexits.h


def main() -> None:
    """Run, and turn a user's mistake into one message and exit code 2."""
    from archcalc.cli.printing import prepared

    gc.set_threshold(*GARBAGE_THRESHOLDS)
    with prepared():
        code = _run(sys.argv[1:])
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    """The exit code. An error that typer finds in the arguments is reported like every other user error."""
    from archcalc.cli import commands
    from archcalc.cli.app import app
    from archcalc.cli.printing import Enough, complain
    from archcalc.cli.progress import shown
    from archcalc.cli.usage import UsageError, mistake, no_command

    called, known = arguments[0] if arguments else "--help", commands.names()
    try:
        if called not in known and not called.startswith("-"):
            raise no_command(called, list(known))
        with shown():
            return app(called)(arguments or [called], standalone_mode=False) or 0
    except UsageError as error:
        complain(f"error: {mistake(error, called if called in known else '')}")
        return FAULTY_INPUT
    except InputError as error:
        complain("\n".join(f"error: {message}" for message in error.messages()))
        return FAULTY_INPUT
    except Enough:
        return 0
    except Exception:
        complain(_bug())
        return BUG


def _bug() -> str:
    import traceback

    from archcalc.version import __version__

    return (
        f"{traceback.format_exc()}error: this is a bug in archcalc {__version__}, not a mistake of yours\n"
        "  please report it where you got archcalc from, with the command and the lines above"
    )
