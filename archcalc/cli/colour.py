"""Whether an answer is coloured: on a terminal, unless the user wants it otherwise.

The conventions, the first that says something wins: NO_COLOR (https://no-color.org), FORCE_COLOR (0 for no colour),
CLICOLOR_FORCE and CLICOLOR (https://bixense.com/clicolors), TERM=dumb.
"""

from __future__ import annotations

import os
import sys

_NO = ("0", "false", "no", "off")


def wanted() -> bool:
    environment = {name: os.environ.get(name, "") for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR")}
    if environment["NO_COLOR"] or environment["FORCE_COLOR"].lower() in _NO:
        return False
    if environment["FORCE_COLOR"] or environment["CLICOLOR_FORCE"] not in ("", "0"):
        return True
    plain = environment["CLICOLOR"] == "0" or os.environ.get("TERM") == "dumb"
    return not plain and bool(sys.stdout) and sys.stdout.isatty()
