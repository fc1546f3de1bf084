"""The catalog of devices: every file of `presets/gpus` and of the user's own folders.

A file that cannot be read is listed by `unreadable`, and is an error only for its own device.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from archcalc.core.errors import InputError
from archcalc.run.device.spec import Device
from archcalc.spec import paths
from archcalc.spec.data_files import document, node


def files() -> dict[str, Path]:
    """Every device file by its name, numbers in the order of their size: m3-max-36gb before m3-max-128gb."""
    return dict(sorted(paths.presets("gpus").items(), key=lambda item: _natural(item[0])))


@cache
def _natural(name: str) -> list[tuple[bool, int, str]]:
    parts = re.findall(r"\d+|\D+", name)
    return [(not part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in parts]


def names() -> list[str]:
    """Every device that can be named, without its aliases."""
    return list(files())


def makers() -> list[str]:
    """Every maker that a device file names."""
    return sorted({each.maker for each in catalog().values() if each.maker})


def catalog() -> dict[str, Device]:
    """Every device that can be read, by the name of its file."""
    return {name: found for name, found in _tried().items() if isinstance(found, Device)}


def unreadable() -> dict[str, InputError]:
    """The error of each device file that cannot be read."""
    return {name: found for name, found in _tried().items() if isinstance(found, InputError)}


def usual() -> list[str]:
    """The devices that are answered for when none is named: `presets/selections/usual.yaml`."""
    chosen: list[str] = document(paths.shipped("selections")["usual"]).data["devices"]
    return chosen


def _tried() -> dict[str, Device | InputError]:
    found: dict[str, Device | InputError] = {}
    for name, file in files().items():
        try:
            found[name] = node(file, Device)
        except InputError as error:
            found[name] = error
    return found
