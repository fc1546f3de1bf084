"""What a device computes in and which attention kernels run on it: presets/capabilities, by generation and target.

    capabilities(device("t4")[1]).has("bf16")      False; None where nothing is known

A device of which neither generation nor target is known has unknown capabilities, so that nothing is refused for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from archcalc.run.device.spec import Device
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node

KIND = "capabilities"
FORMATS = ("fp16", "bf16", "fp8", "fp4", "int8")
Format = Literal["fp16", "bf16", "fp8", "fp4", "int8"]


class Generation(Node):
    """One generation of devices, or one target of it; what is left out is not known."""

    name: str
    compute: str | None = None
    fp16: bool | None = None
    bf16: bool | None = None
    fp8: bool | None = None
    fp4: bool | None = None
    int8: bool | None = None
    flash: Annotated[int, Field(ge=0)] | None = None
    fused_attention: bool | None = None


class Maker(Node):
    """The generations of one maker, with the source of each column."""

    maker: str
    kernel: str = "PyTorch's fused attention"  # that stores no scores, where FlashAttention does not run
    sources: dict[str, str]
    generations: list[Generation]


@dataclass(frozen=True)
class Capabilities:
    """None: not known."""

    device: str = ""  # as sentences name it
    generation: str | None = None
    compute: str | None = None  # CUDA's compute capability, or the target that ROCm compiles for
    fp16: bool | None = None
    bf16: bool | None = None
    fp8: bool | None = None
    fp4: bool | None = None
    int8: bool | None = None
    flash: int | None = None  # the newest version of FlashAttention that runs there; 0: none does
    fused_attention: bool | None = None  # whether some kernel stores no scores
    kernel: str = ""  # the one that does so without FlashAttention
    sources: tuple[tuple[str, str], ...] = field(default=(), compare=False, repr=False)

    def has(self, name: Format) -> bool | None:
        """Whether the device computes in a number format."""
        found: bool | None = getattr(self, name)
        return found

    def why(self, name: str) -> str:
        """The fact about a number format, `flash` or `fused_attention`, as a sentence with its source."""
        source = dict(self.sources).get(name)
        return f"{self._fact(name)} ({source})" if source else self._fact(name)

    @property
    def target(self) -> str:
        """`compute capability 7.5`, `gfx1030`, or the generation."""
        if self.compute and self.compute[0].isdigit():
            return f"compute capability {self.compute}"
        return self.compute or self.generation or ""

    @property
    def words(self) -> str:
        """The device with its target."""
        return f"{self.device} ({self.target})" if self.target else self.device

    def _fact(self, name: str) -> str:
        value, shown = getattr(self, name), self.words
        if value is None:
            return f"of {shown}, {name} is not known"
        if name == "flash":
            return f"FlashAttention {value} runs on {shown}" if value else f"no FlashAttention runs on {shown}"
        what = "attention that stores no scores" if name == "fused_attention" else name
        return f"{shown} has {what}" if value else f"{shown} has no {what}"


NOTHING_KNOWN = Capabilities()


def capabilities(device: Device) -> Capabilities:
    """What is known of the device's generation, narrowed by its target where its file names one; a format of which its
    file has a peak is one that it computes in."""
    found = list(_matching(device))
    shared = {name: _agreed([getattr(one, name) for _, one in found]) for name in _columns()}
    shared |= {name: True for name in FORMATS if shared[name] is None and getattr(device.peak, name)}
    shared["compute"] = device.compute or shared["compute"]
    maker = found[0][0] if found else Maker(maker="", sources={}, generations=[])
    own: dict[str, Any] = {"kernel": maker.kernel, "sources": tuple(maker.sources.items())}
    return Capabilities(device.name, device.generation or _agreed([one.name for _, one in found]), **shared, **own)


def _matching(device: Device) -> Iterator[tuple[Maker, Generation]]:
    """Every row that may be the device's; none where its file names neither generation nor target."""
    for maker in _makers():
        is_other = device.maker is not None and device.maker != maker.maker
        if is_other or not (device.generation or device.compute):
            continue
        for one in maker.generations:
            if one.name == (device.generation or one.name) and one.compute == (device.compute or one.compute):
                yield maker, one


def _columns() -> list[str]:
    return [one.name for one in fields(Capabilities) if one.name in Generation.model_fields]


def _agreed(values: list[Any]) -> Any:
    """The value of all, or None where they differ or where there is none."""
    return values[0] if values and all(value == values[0] for value in values) else None


def _makers() -> list[Maker]:
    return [_read(file) for file in paths.presets(KIND).values()]


@cache
def _read(file: Path) -> Maker:
    return node(file, Maker)
