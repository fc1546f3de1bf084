"""A CPU with so much RAM as a device: `64GB RAM`, `cpu-64gb`, `128 GB DDR5`; `cpu` alone is the machine that asks.

Which words say so is data (`presets/typed/devices.yaml`).
"""

from __future__ import annotations

import os
import re
from typing import Final

from archcalc.core.errors import InputError
from archcalc.run.device.sizes import rated
from archcalc.run.device.spec import Device, Memory
from archcalc.spec import paths
from archcalc.spec.data_files import document
from archcalc.spec.units import binary_bytes

CPU: Final = "cpu"  # the kind of such a device, and its maker as engines list them
_SIZE = re.compile(r"(?<![a-z0-9.])\d+(?:\.\d+)?\s*(?:[gt]i?b|[gt])(?![a-z0-9])")
_WORD = re.compile(r"[a-z]+\d*x?")


def host_device(text: str, field: str = "--gpu") -> tuple[str, Device] | None:
    """Its name, and the device; None where the text names none. The RAM of one machine is one memory."""
    plain = text.strip().lower()
    sizes, rest = _SIZE.findall(plain), _SIZE.sub(" ", plain)
    words, habits = set(_WORD.findall(rest)), document(paths.shipped("typed")["devices"]).data
    if len(sizes) > 1 or not words & set(habits["host"]) or words - {*habits["host"], *habits["beside_host"]}:
        return None
    size = rated(sizes[0], field) if sizes else None
    found = size.bytes if size else _of_this_machine(text, field)
    if not found:
        raise InputError("the memory must be more than 0 bytes", "write a size such as 64GB-RAM", field=field)
    name = f"{sizes[0].replace(' ', '').upper().replace('I', 'i')}-RAM" if sizes else CPU
    return name, Device(
        name=f"a CPU with {binary_bytes(found)} of RAM", maker="CPU", kind=CPU, memory=Memory(bytes=found)
    )


def _of_this_machine(text: str, field: str) -> int:
    """Its physical memory, where the system says."""
    known = getattr(os, "sysconf_names", {})
    if {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(known):
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        if found > 0:
            return found
    raise InputError(f"{text.strip()} says no amount of RAM", "write it, such as --gpu 64GB-RAM", field=field)


def told(text: str, each: Device) -> str:
    """What a reader has to know of it."""
    if _SIZE.search(text.lower()):
        return ""
    return f"{text.strip()}: the RAM of this machine, {binary_bytes(each.memory.bytes)}; write 64GB-RAM for another"
