"""What has to be said of a device beside its figures: which variant was taken, and what its memory rests on."""

from __future__ import annotations

from archcalc.run.device import files, finding
from archcalc.run.device.groups import group
from archcalc.run.device.host import CPU, told
from archcalc.run.device.sizes import rated
from archcalc.run.device.spec import Device
from archcalc.run.device.working_set import rule
from archcalc.spec.units import binary_bytes

_SHOWN = 4  # other variants that are named


def remarks(text: str, field: str = "--gpu") -> list[str]:
    """Sentences on the devices that a text names."""
    named = group(text, field)
    found = [named.said]
    for member in named.members:
        part, name, each, memory = member.text, member.name, member.device, member.device.memory
        if rated(part, field):
            found += _of_size(part)
        elif each.kind == CPU:
            found.append(told(part, each))
        else:
            if finding.found(part).is_open:
                found.append(_variant(part, name, each))
            shared = memory.working_set if not memory.reported else None
            found.append(f"{name}: {rule(shared).told(memory.bytes)}" if shared else "")
    return [sentence for sentence in found if sentence]


def _of_size(text: str) -> list[str]:
    """A size given in GB is read as binary gigabytes, of which drivers report a little less."""
    size = rated(text)
    if not (size and size.by_maker):
        return []
    sold = [each.memory for each in files.catalog().values() if each.memory.bytes == size.bytes]
    reported = sorted(memory.reported for memory in sold if memory.reported)
    ends = " to ".join(dict.fromkeys(map(binary_bytes, (reported[:1] + reported[-1:]))))
    less = f"; drivers report {ends} of such cards, so name yours if it is listed" if reported else ""
    return [f"{text}: read as {binary_bytes(size.bytes)}, since cards are rated in binary gigabytes{less}"]


def _variant(text: str, name: str, each: Device) -> str:
    """Which device was taken, where the text leaves that open: by its memory, or by being another name for it."""
    known = finding.index()
    sizes = {other: known.devices[other].memory for other in known.family(name)}
    others = [other for other in sizes if sizes[other].bytes != each.memory.bytes]
    if not others:
        same = known.habits.typed(text).family in known.own_families(name)
        return "" if same else f"{text}: taken as {name}, {each.name}"
    others.sort(key=lambda other: sizes[other].bytes)
    shown = ", ".join(f"{other} ({binary_bytes(sizes[other].bytes)})" for other in others[:_SHOWN])
    more = ", …" if len(others) > _SHOWN else ""
    return f"{text}: taken as {name}, {each.name}; others of that name: {shown}{more}"
