"""NVIDIA's cards, by nvidia-smi: a line each, `NVIDIA GeForce RTX 4090, 24564`."""

from __future__ import annotations

import re

from archcalc.core.errors import InputError
from archcalc.run.device.here.asking import Card, asked, unreadable

TOOL = "nvidia-smi"
NONE = "No devices were found"
_LINE = re.compile(r"(\S.*?),\s*(\d+|\[?N/A\]?|\[?Not Supported\]?)")  # MiB; none for memory that a CPU shares


def cards() -> list[Card]:
    try:
        text = asked(TOOL, "--query-gpu=name,memory.total", "--format=csv,noheader,nounits")
    except InputError as error:
        if NONE in error.fact:
            return []
        raise
    if text is None or NONE in text:
        return []
    lines = [_LINE.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
    found = [Card(line[1], int(line[2]) * 2**20 if line[2].isdecimal() else 0) for line in lines if line]
    if not found or len(found) < len(lines):
        raise unreadable(TOOL, text)
    return found
