"""Several devices that hold one model together, as `--gpu` names them.

group("2xrtx-3090")                 two of one kind: a budget of GPUs
group("rtx-5070-ti+rtx-5090")       unequal ones
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from archcalc.core.errors import InputError
from archcalc.run.device import Device, device

_SEVERAL = re.compile(r"\s*(\d+)\s*[x×*]\s*(?=\D|\d+\s*[GMT]i?B)(.+)", re.IGNORECASE)
MOST = 4096


@dataclass(frozen=True)
class DeviceGroup:
    """How many of which devices, in the order in which they were named."""

    members: tuple[tuple[int, str, Device], ...]

    @property
    def count(self) -> int:
        return sum(number for number, _, _ in self.members)

    @property
    def name(self) -> str:
        return "+".join(f"{number}x{name}" if number > 1 else name for number, name, _ in self.members)

    @property
    def words(self) -> str:
        """As sentences name it: `2 × rtx-3090`."""
        return " + ".join(f"{number} × {name}" if number > 1 else name for number, name, _ in self.members)

    @property
    def is_equal(self) -> bool:
        """Whether all are the same product."""
        return len({name for _, name, _ in self.members}) == 1

    @property
    def first(self) -> Device:
        return self.members[0][2]

    @property
    def each(self) -> list[tuple[str, Device]]:
        """One by one."""
        return [(name, one) for number, name, one in self.members for _ in range(number)]


def group(text: str, field: str = "--gpu") -> DeviceGroup:
    """A device, so many of one, or several joined by +."""
    return DeviceGroup(tuple(_member(part, field) for part in text.split("+")))


def _member(text: str, field: str) -> tuple[int, str, Device]:
    found = _SEVERAL.fullmatch(text)
    number, name = (int(found[1]), found[2]) if found else (1, text)
    if not 1 <= number <= MOST:
        raise InputError(f"{number:,} devices", f"a number from 1 to {MOST:,}, such as 2x{name}", field=field)
    return (number, *device(name, field))
