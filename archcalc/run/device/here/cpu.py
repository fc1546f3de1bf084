"""The processor of this machine, by /proc: what there is where no card is."""

from __future__ import annotations

import re
from pathlib import Path

from archcalc.run.device.host import host_device

LISTED = Path("/proc/cpuinfo")


def words() -> str:
    """`AMD EPYC 7713 (a CPU with 62.80 GiB of RAM)`."""
    found = host_device("cpu")
    ram = found[1].name if found else "a CPU"
    named = LISTED.exists() and re.search(r"^model name\s*:\s*(.+)$", LISTED.read_text(errors="replace"), re.M)
    return f"{named[1].strip()} ({ram})" if named else ram
