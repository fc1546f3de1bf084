"""Several devices as people write them: `2x3090`, `8 x a100-80gb`, `rtx-5070-ti + rtx-5090`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from archcalc.core.errors import InputError, close_guess
from archcalc.run.device import files, finding
from archcalc.run.device.host import CPU, host_device
from archcalc.run.device.sizes import rated
from archcalc.run.device.spec import Device, Memory
from archcalc.spec import paths
from archcalc.spec.data_files import node

HERE = "here"  # this machine
MOST = 100_000  # devices of one group; the largest cluster of a training report has 100,000
_LEADING = re.compile(r"(\d[\d,_]*)\s*[x\u00d7*]\s*(\S.*)", re.IGNORECASE)  # 2x3090
_TRAILING = re.compile(r"(.+?)[\s_]+[x\u00d7*]\s*(\d+)", re.IGNORECASE)  # a100_80gb x8
_SHOWN = 6  # names of a question which device is meant


@dataclass(frozen=True)
class Member:
    """So many devices of one kind, the name that it goes by, and the `text` that names it."""

    count: int
    name: str
    device: Device
    text: str = field(compare=False)

    def __str__(self) -> str:
        return f"{self.count}x {self.name}" if self.count > 1 else self.name


@dataclass(frozen=True)
class DeviceGroup:
    """Devices that are used together, in the order in which they were named, as `group` makes it: the `first` of them,
    how many they are, `name` as `--gpu` takes it (`2xrtx-3090`, `rtx-5070-ti+rtx-5090`), `words` as sentences name it
    (`2 × rtx-3090`), and whether all are of one kind."""

    members: tuple[Member, ...]
    first: Device
    count: int
    name: str
    words: str
    is_uniform: bool
    said: str = field(default="", compare=False)  # of this machine: which cards it has, and who says so

    @property
    def kinds(self) -> list[Device]:
        """One for all that are alike."""
        return [member.device for member in self.members]

    @property
    def each(self) -> list[tuple[str, Device]]:
        """One by one, with its name."""
        return [(member.name, member.device) for member in self.members for _ in range(member.count)]

    def __str__(self) -> str:
        return " + ".join(map(str, self.members))


def device(name: str, field: str = "--gpu") -> tuple[str, Device]:
    """The name a device goes by, and the device; a memory size is a device too. Raises with the closest names."""
    asked = group(name, field)
    if asked.count == 1:
        return asked.members[0].name, asked.members[0].device
    one = asked.members[0].name
    hint = f"name one device ({one}); --tp and --zero spread a model over several, each with the memory of that one"
    raise InputError(f"{name.strip()} is {asked.count:,} devices, and this answers for one", hint, field=field)


def group(name: str, field: str = "--gpu") -> DeviceGroup:
    """Devices by their names, each with its number: `2x3090+4090`. A single device is a group of one; a name may have a
    plus sign of its own (Ryzen AI Max+ 395). `here` are the cards of this machine."""
    if name.strip().lower() == HERE:
        from archcalc.run.device.here import cards_here

        found = cards_here()
        return replace(group(found.name, field), said=found.said)
    asked = [(name.strip(), 1)] if _one(name, field) else [counted(part) for part in name.split("+")]
    counts = [count for _, count in asked]
    if min(counts) < 1 or sum(counts) > MOST:
        raise InputError(f"expected 1 to {MOST:,} devices, found {name.strip()}", "write 2x3090", field=field)
    members: list[Member] = []
    for text, count in asked:
        known = _one(text, field)
        if not known:
            raise _unknown(text, field)
        members.append(Member(count, *known, text))
    if sum(counts) > 1 and any(member.device.kind == CPU for member in members):
        hint = "name a CPU by all of its RAM, or keep layers there beside a GPU: --gpu rtx-3090 --ngl 20 --host 64GB"
        raise InputError(f"{name.strip()}: RAM is the memory of one machine, and no further device", hint, field=field)
    written = [str(member) for member in members]
    return DeviceGroup(
        tuple(members),
        members[0].device,
        sum(counts),
        "+".join(written).replace(" ", ""),
        " + ".join(text.replace("x ", " × ") for text in written),
        len({member.name for member in members}) == 1,
    )


def counted(part: str) -> tuple[str, int]:
    """`2x3090`, `8 x H100` and `a100_80gb x8`: the name, and how many."""
    leading, trailing = _LEADING.fullmatch(part.strip()), _TRAILING.fullmatch(part.strip())
    if leading:
        return leading[2], _number(leading[1])
    return (trailing[1].strip(), _number(trailing[2])) if trailing else (part.strip(), 1)


def _number(text: str) -> int:
    """Thousands may be set apart; what is too long for any cluster is no number of devices."""
    digits = re.sub(r"\D", "", text)
    return int(digits) if len(digits) <= len(str(MOST)) else MOST + 1


def _one(text: str, field: str) -> tuple[str, Device] | None:
    """A single device by its name or its memory size; None if nothing is called so."""
    size = rated(text, field)
    if size and not size.bytes:
        raise InputError("the memory must be more than 0 bytes", "write a size such as 24GB", field=field)
    if size:
        return text.strip(), Device(name=text.strip(), memory=Memory(bytes=size.bytes))
    host = host_device(text, field)
    if host:
        return host
    hits = finding.found(text)
    only = hits.names[0] if len(hits.names) == 1 else hits.usual
    if only:
        return only, node(paths.presets("gpus")[only], Device)
    if hits.names and counted(text)[1] == 1 and "+" not in text:
        shown = ", ".join(hits.names[:_SHOWN]) + (", …" if len(hits.names) > _SHOWN else "")
        fact = f"{text.strip()} may be one of {len(hits.names)} devices"
        raise InputError(fact, f"which one? {shown}", field=field)
    return None


def _unknown(text: str, field: str) -> InputError:
    """A number without its unit may be meant as a memory size."""
    spelled = finding.as_file(text)
    spellings = [*files.catalog(), *(alias for each in files.catalog().values() for alias in each.aliases)]
    as_size = f"did you mean {spelled}GB?" if spelled.isdecimal() else ""
    more = "`archcalc gpus` lists all; a memory size such as 24GB stands for any other"
    hint = close_guess(spelled, spellings) or as_size
    return InputError(f"no device is called {text.strip() or 'nothing'}", hint, more=more, field=field)
