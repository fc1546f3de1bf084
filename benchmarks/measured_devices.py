"""The device that a case names: as `--gpu` takes it, and of which class it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from measured_cases import Case

from archcalc.core.errors import InputError
from archcalc.run.device import device

COUNT = re.compile(r"^\d+\s?x\s+|\s+x\d+$", re.IGNORECASE)  # `8x H100`, `a100_80gb x8`: the plan says how many
SIZE = re.compile(r"\d+(?:\.\d+)? ?G(?:i?B)?\b", re.IGNORECASE)
BRACKETS = re.compile(r"\s*\(.*")
UNNAMED = "unnamed"  # a memory size alone, or nothing


@dataclass(frozen=True)
class Named:
    """A device as it is typed, and its class: datacenter, workstation, consumer, unified …"""

    typed: str | None
    kind: str = UNNAMED


def device_of(case: Case) -> Named:
    """The first spelling that archcalc knows; nothing where the case names no device and no memory size."""
    for spelling in _spellings(str(case.get("gpu") or "")):
        try:
            name, found = device(spelling)
        except InputError:
            continue
        return Named(spelling, UNNAMED if SIZE.fullmatch(name) else found.kind or UNNAMED)
    return Named(None)


def _spellings(said: str) -> Iterator[str]:
    """With the memory that a log prints, as it stands, without what follows, by its memory alone."""
    said = COUNT.sub("", said)
    bare = BRACKETS.sub("", said).strip()
    printed = SIZE.search(said[len(bare) :])
    if printed and bare and not SIZE.search(bare):
        yield f"{bare} {round(float(re.sub('[^0-9.]', '', printed[0])))}GB"
    yield from (bare, bare.partition(",")[0])
    if size := SIZE.search(said):
        yield size[0].replace(" ", "")
