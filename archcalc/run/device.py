"""Devices: what one is, and how one is found by the name that people type.

    device("h100"), device("RTX 4090"), device("24GB")

The catalog is data (`presets/gpus`, then the user's own folders): one file a device. A file that cannot be
read is listed by `unreadable`, and is an error only for its own device. A memory size stands for a device of which
nothing else is known.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, ValidationError

from archcalc.core.errors import InputError, close_guess
from archcalc.spec import paths
from archcalc.spec.node import Node, mistake, shown
from archcalc.spec.units import Rated, binary_bytes, parse_bytes, parse_rated
from archcalc.spec.yaml_reader import MAX_BYTES, read

Amount = Annotated[int, Field(gt=0)]
Kind = Literal["datacenter", "workstation", "consumer", "embedded", "tpu", "unified"]
KINDS: tuple[str, ...] = Kind.__args__  # type: ignore[attr-defined]


def _as_bytes(value: Any) -> Any:
    """A number of bytes, or a size with its unit."""
    if not isinstance(value, str):
        return value
    try:
        rated = parse_rated(value)
        return rated.bytes if rated else parse_bytes(value)
    except ValueError as reason:
        raise mistake(f"{reason}, found {shown(value)}") from None


Bytes = Annotated[Amount, BeforeValidator(_as_bytes)]


class Memory(Node):
    """Nameplate memory, and memory as the driver reports it, which is a little less."""

    main: ClassVar[str] = "bytes"
    nameplate: str | None = None
    bytes: Bytes
    reported: Amount | None = None
    source: str | None = None  # of the reported figure


class Link(Node):
    """The interconnect between devices of one machine."""

    kind: str
    bytes_per_second: Amount
    note: str | None = None


class Peak(Node):
    """Dense operations a second, by number format; tensor cores accumulate in fp32."""

    fp64: Amount | None = None
    fp32: Amount | None = None
    tf32: Amount | None = None
    bf16: Amount | None = None
    fp16: Amount | None = None
    fp8: Amount | None = None
    int8: Amount | None = None
    fp4: Amount | None = None


class Device(Node):
    """One device of the catalog. A user's own device file needs a name and a memory size."""

    name: str
    maker: str | None = None
    kind: Kind | None = None
    aliases: list[str] = Field(default_factory=list)
    year: Amount | None = None
    generation: str | None = None  # of the chip, by which engines choose kernels: ampere, hopper, cdna3, m3
    memory: Memory
    bandwidth: Amount | None = None
    peak: Peak = Peak()
    link: Link | None = None
    sources: list[str] = Field(default_factory=list)
    note: str | None = None

    @property
    def capacity(self) -> int:
        """Usable memory: as the driver reports it if a source gives that figure, else the nameplate."""
        return self.memory.reported or self.memory.bytes

    @property
    def half_peak(self) -> int | None:
        """The dense peak in bf16, or in fp16 where there is no bf16."""
        return self.peak.bf16 or self.peak.fp16


def makers() -> list[str]:
    """Every maker that a device file names."""
    return sorted({each.maker for each in catalog().values() if each.maker})


def names() -> list[str]:
    """Every device that can be named, without its aliases."""
    return sorted(paths.presets("gpus"))


def device(name: str, field: str = "--gpu") -> tuple[str, Device]:
    """The name a device goes by, and the device; a memory size is a device too. Raises with the closest names."""
    size = rated(name, field)
    if size:
        return name.strip(), _of_size(name.strip(), size, field)
    typed, files = _typed(name), paths.presets("gpus")
    known = typed if typed in files else _found(name)
    if known:
        return known, _read(files[known])
    more = "`archcalc gpus` lists all; a memory size such as 24GB stands for any other"
    raise InputError(f"no device is called {name or 'nothing'}", _closest(typed), more=more, field=field)


def rated(text: str, field: str = "--gpu") -> Rated | None:
    """The size that stands for a device, or None for a name."""
    try:
        return parse_rated(text)
    except ValueError as reason:
        raise InputError(f"{reason}, found {shown(text)}", field=field) from None


def rating(text: str) -> str:
    """A note for a size given in GB, which is read as binary gigabytes."""
    size = rated(text)
    if not (size and size.by_maker):
        return ""
    return f"{text.strip()}: read as {binary_bytes(size.bytes)}, since cards are rated in binary gigabytes"


def _closest(typed: str) -> str:
    """A number without its unit may be meant as a memory size."""
    spellings = [*catalog(), *(alias for each in catalog().values() for alias in each.aliases)]
    as_size = f"did you mean {typed}GB?" if typed.isdecimal() else ""
    return close_guess(typed, spellings) or as_size


def _of_size(name: str, size: Rated, field: str) -> Device:
    if not size.bytes:
        raise InputError("the memory must be more than 0 bytes", "write a size such as 24GB", field=field)
    known = Device(name=name, memory=Memory(bytes=size.bytes))
    return known.model_copy(update={"note": rating(name)}) if size.by_maker else known


@cache
def _read(file: Path) -> Device:
    """One file of the catalog."""
    try:
        with paths.plain(file).open("rb") as stream:
            document = read(stream.read(MAX_BYTES + 1), str(file))
    except OSError as reason:
        raise InputError(f"cannot be read: {reason.strerror or reason}", field=str(file)) from None
    with document.locating():
        try:
            return Device.model_validate(document.data)
        except ValidationError as error:
            from archcalc.spec.mistakes import mistake_in

            raise mistake_in(error, Device, document.data) from None


def catalog() -> dict[str, Device]:
    """Every device that can be read, by the name of its file."""
    return {name: found for name, found in _tried().items() if isinstance(found, Device)}


def unreadable() -> dict[str, InputError]:
    """The error of each device file that cannot be read."""
    return {name: found for name, found in _tried().items() if isinstance(found, InputError)}


def _tried() -> dict[str, Device | InputError]:
    found: dict[str, Device | InputError] = {}
    for name, file in sorted(paths.presets("gpus").items()):
        try:
            found[name] = _read(file)
        except InputError as error:
            found[name] = error
    return found


def _found(typed: str) -> str | None:
    """The name of the file that this spelling means: a title, an alias or a file's name, with or without the maker."""
    devices = catalog()
    prefixes = {_letters(each.maker) for each in devices.values() if each.maker}
    spellings = {each.name: name for name, each in devices.items()}
    spellings |= {alias: name for name, each in devices.items() for alias in each.aliases}
    spellings |= {name: name for name in paths.presets("gpus")}
    known = {_without(prefixes, spelling): name for spelling, name in spellings.items()}
    return known.get(_without(prefixes, typed))


def _typed(name: str) -> str:
    """`RTX 4090` and `rtx_4090` as the file is called."""
    return "-".join(re.split(r"[\s_-]+", name.strip().lower()))


def _letters(name: str) -> str:
    """Letters and digits alone: `RTX 4090` is `rtx4090`."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _without(prefixes: set[str], name: str) -> str:
    """Without the maker, which people leave out: `NVIDIA RTX4090` is `rtx4090`."""
    letters = _letters(name)
    return letters.removeprefix(next(filter(letters.startswith, prefixes), ""))
