"""The command line. Only this package prints, exits, or catches; a command loads, analyzes and renders.

Exit codes: 0 answered, 1 verification found a difference, 2 the input is at fault.
"""

from __future__ import annotations

import sys

from archcalc.errors import InputError


def main() -> None:
    """Run, and turn a user's mistake into one message and exit code 2."""
    from archcalc.cli.app import app
    from archcalc.cli.printing import Enough, harmless, prepare

    prepare()
    try:
        app(sys.argv[1] if len(sys.argv) > 1 else "")()
    except InputError as error:
        if sys.stderr:
            print(f"error: {harmless(str(error))}", file=sys.stderr)
        sys.exit(2)
    except Enough:
        sys.exit(0)
    except KeyboardInterrupt:
        sys.exit(130)
