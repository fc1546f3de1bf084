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
    """Run, and turn a user's mistake, also one that typer finds in the arguments, into one message and exit code 2."""
    from archcalc.cli import commands
    from archcalc.cli.app import UsageError, answered, in_full, in_pieces, mistake
    from archcalc.cli.printing import Enough, complain, prepared
    from archcalc.cli.progress import shown

    gc.set_threshold(*GARBAGE_THRESHOLDS)
    arguments, known, code = sys.argv[1:], commands.names(), FAULTY_INPUT
    with prepared():
        try:
            arguments = in_full(arguments, known)
            called = arguments[0] if arguments else ""
            with shown():
                code = answered(called, arguments)
        except UsageError as error:
            complain(f"error: {in_pieces(arguments, known) or mistake(error, called if called in known else '')}")
        except InputError as error:
            told = in_pieces(arguments, known) or error
            complain("\n".join(f"error: {message}" for message in told.messages()))
        except Enough:
            code = 0
        except Exception:
            complain(_bug())
            code = BUG
    sys.exit(code)


def _bug() -> str:
    import traceback

    from archcalc.version import __version__

    return (
        f"{traceback.format_exc()}error: this is a bug in archcalc {__version__}, not a mistake of yours\n"
        "  please report it where you got archcalc from, with the command and the lines above"
    )
